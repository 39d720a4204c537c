// morph makes the content of an element that of another one, and keeps what is the same: the
// keyboard's focus, what is selected, what is open and how far it is scrolled.

export function morph(from, to) {
  let old = from.firstChild;
  const all = [...to.childNodes];
  const wanted = new Set(all.map(keyOf));
  for (const next of all) {
    const kept = match(old, next, wanted);
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

// match finds what a node was before, from a node on: what has its name, or the next element of its kind
// without one, before those whose names are still wanted. Text is as good as any other.
function match(old, next, wanted) {
  const key = keyOf(next);
  let left = 1;
  if (next.nodeType === Node.ELEMENT_NODE) left = key ? Infinity : reach;
  for (let n = old; n && left > 0; n = n.nextSibling, left--) {
    if (n.nodeName === next.nodeName && keyOf(n) === key) return n;
    if (!key && keyOf(n) && wanted.has(keyOf(n))) return null;
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
