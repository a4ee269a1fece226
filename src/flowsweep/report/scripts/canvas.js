"use strict";

// Plotly reads every label of a surface back from a 2D canvas that it makes while it loads. A browser complains unless
// the canvas was made for that.
const getContext = HTMLCanvasElement.prototype.getContext;
HTMLCanvasElement.prototype.getContext = function (kind, options) {
  return getContext.call(this, kind, kind === "2d" ? { willReadFrequently: true, ...options } : options);
};
