// What a reader looks for in a list: terms that must all be there.

const OF_NAME = /[\p{L}\p{N}_.:-]/u;

// "a -> b", the direction, is one term, and so is "a <-> b", both ways at once.
function termsOf(text) {
  const arrows = text.toLowerCase().replaceAll(/\s*(?:⇄|<->)\s*/g, " ⇄ ").replaceAll(/\s*(?:→|->)\s*/g, " → ");
  return arrows.match(/\S+ [→⇄] \S+|\S+/g) ?? [];
}

// Whether it stands in a text of small letters: a word anywhere, a direction with the whole names of its ends.
function holds(text, term) {
  const isWhole = (at) => !OF_NAME.test(text[at - 1] ?? "") && !OF_NAME.test(text[at + term.length] ?? "");
  if (!/ [→⇄] /.test(term)) return text.includes(term);
  for (let at = text.indexOf(term); at >= 0; at = text.indexOf(term, at + 1)) if (isWhole(at)) return true;
  return false;
}
