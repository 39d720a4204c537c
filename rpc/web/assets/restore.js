// The page of restores: what is in a backup, before anything is written.

import { ask, parse, say } from './calls.js';

const form = document.getElementById('restore');
const place = document.getElementById('preview');
const problem = document.getElementById('restore-problem');
const button = document.getElementById('look');

form.addEventListener('submit', async (e) => {
  e.preventDefault();
  problem.textContent = '';
  place.replaceChildren();
  button.disabled = true;
  say('Looking into the file');
  try {
    const response = await ask('ui/preview', { method: 'POST', body: new URLSearchParams(new FormData(form)) });
    const body = await response.text();
    if (!response.ok) throw new Error(body || `The file could not be looked into (${response.status}).`);
    place.replaceChildren(...parse(body).children);
  } catch (err) {
    problem.textContent = err.message;
  }
  button.disabled = false;
});
