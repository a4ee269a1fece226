// Pages that say something and are done.

watchTheme(document.getElementById("theme"), () => {});
document.getElementById("live").hidden = true;
