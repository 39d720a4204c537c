// morph makes the content of an element that of another one, and keeps what is the same: the
// keyboard's focus, what is selected, what is open and how far it is scrolled.

export function morph(from, to) {
  let old = from.firstChild;
  for (const next of [...to.childNodes]) {
    const kept = match(old, next);
    if (!kept) {
      from.insertBefore(next, old);
      continue;
    }
    while (old !== kept) {
      const gone = old;
      old = old.nextSibling;
      gone.remove();
    }
    old = old.nextSibling;
    same(kept, next);
  }
  while (old) {
    const gone = old;
    old = old.nextSibling;
    gone.remove();
  }
}

// reach is how many nodes that have gone, such as white space, may lie before one that has stayed.
const reach = 3;

// match finds what a node was before, from a node on: what has its name, or the next of its kind
// without one.
function match(old, next) {
  const key = keyOf(next);
  let left = key ? Infinity : reach;
  for (let n = old; n && left > 0; n = n.nextSibling, left--) {
    if (n.nodeName === next.nodeName && keyOf(n) === key) return n;
  }
  return null;
}

function keyOf(node) {
  return node.id || node.getAttribute?.('aria-labelledby') || '';
}

function same(node, next) {
  if (node.nodeType !== Node.ELEMENT_NODE) {
    if (node.data !== next.data) node.data = next.data;
    return;
  }
  for (const { name } of [...node.attributes]) {
    if (!next.hasAttribute(name) && name !== 'open') node.removeAttribute(name);
  }
  for (const { name, value } of next.attributes) {
    if (node.getAttribute(name) !== value && name !== 'open') node.setAttribute(name, value);
  }
  morph(node, next);
}
