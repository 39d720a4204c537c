// The page of restores: what is in a backup, before anything is written. The backup lies on the machine of the
// node, or is sent there.

import { ask, complain, parse, say } from './calls.js';

const form = document.getElementById('restore');
const place = document.getElementById('preview');
const problem = document.getElementById('restore-problem');
const button = document.getElementById('look');
const backup = document.getElementById('backup');

// maxShown is how many descriptors of an uploaded backup are shown.
const maxShown = 20;

// maxUpload is how many bytes a backup may have.
const maxUpload = 256 * 1024 * 1024;

// refused are the answers to an upload that say why there is none, and to its restore.
const refused = {
  404: 'The node does not have the upload any more: look into the file again.',
  409: 'Another upload or restore of this login is under way.',
  413: 'The file is larger than 256 MiB.',
  507: 'The disk of the node is full.',
};

// kept is the id of the upload that the node keeps for this page; empty: none.
let kept = '';

// drop has the node remove that upload, also when the page is left.
function drop() {
  const body = new URLSearchParams({ upload: kept });
  kept = '';
  return ask('ui/upload/drop', { method: 'POST', body, keepalive: true });
}

addEventListener('pagehide', () => {
  if (kept) drop().catch(() => {}); // where it cannot be, it is gone with the session
});

// read returns the text of a response, or fails with its words.
async function read(response, words = {}) {
  const body = await response.text();
  if (!response.ok) throw new Error(words[response.status] || body || `The node refused it (${response.status}).`);
  return body;
}

// nameOf makes the name of a wallet of that of its backup, which the node does not know.
function nameOf(file) {
  return file.replace(/\.[^.]*$/, '') || 'restored';
}

// upload sends a backup to the node, and returns the form that has its preview shown.
async function upload(file, name) {
  if (file.size > maxUpload) throw new Error(refused[413]);
  say('Sending the file');
  const path = 'ui/upload?name=' + encodeURIComponent(name || nameOf(file.name));
  const response = await ask(path, { method: 'POST', body: file });
  const reply = JSON.parse(await read(response, refused));
  kept = response.headers.get('X-Trawl-Upload') ?? '';
  if (reply.error) throw new Error(reply.error.message);
  reply.result.descriptors = reply.result.descriptors?.slice(0, maxShown);
  return new URLSearchParams({ file: file.name, reply: JSON.stringify(reply.result) });
}

form.addEventListener('submit', async (e) => {
  e.preventDefault();
  problem.textContent = '';
  place.replaceChildren();
  const fields = new FormData(form);
  const file = backup?.files[0];
  if (!file && !fields.get('file')) {
    problem.textContent = 'Choose a backup, or name one on the machine of the node.';
    return;
  }
  button.disabled = true;
  try {
    if (kept) await drop();
    const body = file ? await upload(file, fields.get('name')) : new URLSearchParams(fields);
    say('Looking into the file');
    place.replaceChildren(...parse(await read(await ask('ui/preview', { method: 'POST', body }))).children);
  } catch (err) {
    problem.textContent = err.message;
  }
  button.disabled = false;
});

place.addEventListener('click', async (e) => {
  const pressed = e.target.closest('#restore-upload, #drop-upload');
  if (!pressed) return;
  pressed.disabled = true;
  try {
    if (pressed.id === 'drop-upload') {
      await read(await drop(), refused);
      place.replaceChildren();
      say('The upload was removed');
      return;
    }
    say('Restoring the wallet');
    const body = new URLSearchParams({ name: pressed.dataset.name, upload: kept });
    kept = ''; // whatever comes of it
    const reply = JSON.parse(await read(await ask('ui/upload/restore', { method: 'POST', body }), refused));
    if (reply.error) throw new Error(reply.error.message);
    location.assign(pressed.dataset.then);
  } catch (err) {
    complain(`${pressed.textContent.trim()}: ${err.message}`);
  }
});
