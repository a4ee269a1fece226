// Surfaces need WebGL, and a browser keeps about 16 contexts for all its pages: only those in view are alive, a few
// more while there is room, and the others show a still image.

const MOST_ALIVE = 8;

class Surfaces {
  constructor(nodes) {
    this.visible = new Set();
    this.alive = new Set();
    this.failed = new Set();
    this.working = false;
    this.observer = new IntersectionObserver((entries) => this.moved(entries), { rootMargin: "150px 0px" });
    for (const node of nodes) this.observer.observe(node);
  }

  moved(entries) {
    for (const { target, isIntersecting } of entries) {
      if (isIntersecting) this.visible.add(target);
      else this.visible.delete(target);
    }
    // A surface takes long: what is flat and in view is drawn before.
    setTimeout(() => this.work());
  }

  // One after the other, so that the page stays responsive.
  async work() {
    if (this.working) return;
    this.working = true;
    for (let node = this.next(); node; node = this.next()) {
      if (this.alive.size >= MOST_ALIVE) {
        const unseen = this.farthestUnseen();
        if (!unseen) break; // until one goes out of view
        this.retire(unseen);
      }
      await this.wake(node);
    }
    this.working = false;
  }

  next() {
    return [...this.visible].find((node) => !this.alive.has(node) && !this.failed.has(node));
  }

  // Which of those alive can go; undefined if all are in view.
  farthestUnseen() {
    const middle = innerHeight / 2;
    const distance = (node) => Math.abs(node.getBoundingClientRect().top + node.offsetHeight / 2 - middle);
    const unseen = [...this.alive].filter((node) => !this.visible.has(node));
    return unseen.sort((one, other) => distance(other) - distance(one))[0];
  }

  async wake(node) {
    node.replaceChildren();
    this.alive.add(node);
    try {
      await drawFigure(node);
      node.append(rotateButton(node));
    } catch (error) {
      this.failed.add(node);
      this.alive.delete(node);
      node.replaceChildren(message(`The surface cannot be drawn here (${error.message}); the map shows the same values.`));
    }
  }

  // Plotly.toImage would draw the whole figure once more, in a context of its own, and take seconds; a scene gives its
  // picture at once. Without one the frame stays empty until it comes into view again.
  retire(node) {
    const picture = node._fullLayout.scene._scene?.toImage?.("png");
    this.close(node);
    node.replaceChildren(...(picture ? [still(picture, node.getAttribute("aria-label"))] : []));
  }

  // Plotly leaves the context to the garbage collector, which comes too late for a fast reader.
  close(node) {
    const contexts = contextsOf(node);
    Plotly.purge(node);
    contexts.forEach(letGo);
    this.alive.delete(node);
  }

  // Paper shows the still images, too, as they are: they are of the screen's theme.
  // One surface after the other, since Plotly makes a new context for each; what goes to paper cannot wait. Behind the
  // page of a trial there is no size to draw one in: it is made anew when it comes into view.
  async restyle({ onPaper = false } = {}) {
    for (const node of this.observed()) {
      if (!isLaidOut(node) && onPaper) continue;
      if (!isLaidOut(node) && this.alive.has(node)) this.close(node);
      if (this.alive.has(node)) {
        const redrawn = this.redraw(node);
        if (!onPaper) await redrawn;
      } else if (!onPaper && !this.failed.has(node)) node.replaceChildren();
    }
  }

  async redraw(node) {
    const before = contextsOf(node);
    await restyleFigure(node);
    const after = contextsOf(node);
    before.filter((context) => !after.includes(context)).forEach(letGo);
  }

  observed() {
    return document.querySelectorAll('.plot[data-kind="surface"]');
  }
}

function contextsOf(node) {
  return [...node.querySelectorAll("canvas")].map((canvas) => canvas.getContext("webgl")).filter(Boolean);
}

function letGo(context) {
  context.getExtension("WEBGL_lose_context")?.loseContext();
}

// A finger on the surface would turn it and never get the page to scroll.
function rotateButton(node) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "plot__rotate";
  const show = () => { button.textContent = node.classList.contains("is-free") ? "Done" : "Rotate"; };
  button.addEventListener("click", () => { node.classList.toggle("is-free"); show(); });
  show();
  return button;
}

function still(picture, label) {
  const image = document.createElement("img");
  image.className = "plot__still";
  image.alt = label;
  image.src = picture;
  return image;
}

function message(text) {
  const paragraph = document.createElement("p");
  paragraph.className = "plot__message";
  paragraph.textContent = text;
  return paragraph;
}
