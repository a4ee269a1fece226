// Shows one card as large as the window: the card itself moves there and back, so that nothing is drawn twice and no
// further WebGL context is needed.

class Viewer {
  constructor(dialog) {
    this.dialog = dialog;
    this.title = document.getElementById("viewer-title");
    this.place = document.getElementById("viewer-place");
    this.stage = document.getElementById("viewer-stage");
    this.card = null;
    this.gap = document.createElement("div");
    document.addEventListener("click", (event) => this.clicked(event));
    dialog.addEventListener("keydown", (event) => this.pressed(event));
    dialog.addEventListener("close", () => this.putBack());
  }

  clicked(event) {
    const small = event.target.closest("[data-enlarges]");
    if (small && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
      event.preventDefault();
      this.open(document.getElementById(small.dataset.enlarges));
    } else if (event.target.closest("[data-enlarge]")) {
      const card = event.target.closest(".card");
      if (card === this.card) this.close();
      else this.open(card);
    } else if (event.target.closest("#viewer [data-step]")) {
      this.step(Number(event.target.closest("[data-step]").dataset.step));
    } else if (event.target.closest("#viewer [data-close]") || event.target === this.dialog) {
      this.close();
    }
  }

  pressed(event) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    event.preventDefault();
    this.step(step);
  }

  open(card) {
    this.cards = [...card.closest("[data-gallery]").querySelectorAll(".card")];
    this.dialog.showModal();
    this.show(card);
  }

  // The card is back at once: a dialog says later that it was closed.
  close() {
    this.dialog.close();
    this.putBack();
  }

  step(by) {
    const cards = this.cards;
    const next = cards[(cards.indexOf(this.card) + by + cards.length) % cards.length];
    this.putBack();
    this.show(next);
  }

  // The page behind must not shrink meanwhile, or the reader would be elsewhere after closing.
  show(card) {
    this.gap.style.height = `${card.offsetHeight}px`;
    card.before(this.gap);
    this.card = card;
    this.stage.append(card);
    this.title.textContent = card.querySelector("h5").textContent;
    this.place.textContent = this.cards.length > 1 ? `${this.cards.indexOf(card) + 1} of ${this.cards.length}` : "";
    for (const button of this.dialog.querySelectorAll("[data-step]")) button.hidden = this.cards.length < 2;
    this.fit(card);
  }

  putBack() {
    const card = this.card;
    if (!card) return;
    this.card = null;
    this.gap.replaceWith(card);
    this.fit(card);
  }

  fit(card) {
    for (const node of card.querySelectorAll(".plot")) if (node._fullLayout) fitFigure(node);
  }
}
