// The box that finds everything, the copy buttons, and filters of long lists.

import { complain, say } from './calls.js';

const box = document.getElementById('q');

// A private key is not even sent: it has no business here.
const secret = /[a-zA-Z]prv[1-9A-HJ-NP-Za-km-z]{20,}|(?:^|[^1-9A-HJ-NP-Za-km-z])(?:5[1-9A-HJ-NP-Za-km-z]{50}|[KLc9][1-9A-HJ-NP-Za-km-z]{50,51})(?:$|[^1-9A-HJ-NP-Za-km-z])/;

box?.form.addEventListener('submit', (e) => {
  if (!box.value.trim()) {
    e.preventDefault();
    return;
  }
  if (!secret.test(box.value)) return;
  e.preventDefault();
  box.value = '';
  complain('This is a private key: it was not sent. To look at what its coins did, paste the address or the extended public key.');
});

document.addEventListener('keydown', (e) => {
  if (e.key !== '/' || e.ctrlKey || e.metaKey || e.altKey || /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName)) return;
  if (!box) return;
  e.preventDefault();
  box.focus();
  box.select();
});

const done = 'M5 12.5l4.5 4.5L19 7.5';

// copyText puts a text on the clipboard, also where browsers keep their newer way from pages without TLS.
async function copyText(text) {
  if (navigator.clipboard) {
    await navigator.clipboard.writeText(text);
    return;
  }
  const field = document.createElement('textarea');
  field.value = text;
  field.className = 'sr';
  document.body.append(field);
  field.select();
  const ok = document.execCommand('copy');
  field.remove();
  if (!ok) throw new Error('refused');
}

document.addEventListener('click', async (e) => {
  const button = e.target.closest('[data-copy]');
  if (!button) return;
  try {
    await copyText(button.dataset.copy);
  } catch {
    say('It could not be copied: select the text instead');
    return;
  }
  const path = button.querySelector('path');
  const before = path?.getAttribute('d');
  path?.setAttribute('d', done);
  button.classList.add('done');
  button.focus();
  say('Copied');
  setTimeout(() => {
    if (path?.getAttribute('d') === done) path.setAttribute('d', before);
    button.classList.remove('done');
  }, 1200);
});

// filter hides the rows that do not have the words of a filter.
export function filter() {
  const field = document.querySelector('[data-filter]');
  if (!field) return;
  const words = field.value.toLowerCase();
  for (const row of document.querySelectorAll(field.dataset.filter)) {
    row.hidden = !row.textContent.toLowerCase().includes(words);
  }
}

document.addEventListener('input', (e) => {
  if (e.target.matches?.('[data-filter]')) filter();
});
