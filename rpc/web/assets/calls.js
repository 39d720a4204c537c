// How the page talks to the node, and to who looks at it.

const { base: root, token } = document.documentElement.dataset;

// Failure is an error of the node, or of the way to it.
class Failure extends Error {
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

// touched is when somebody last did something here. A session ends after an hour without that, however
// often the page asks for news by itself.
let touched = Date.now();
for (const event of ['pointerdown', 'keydown', 'wheel', 'touchstart']) {
  addEventListener(event, () => (touched = Date.now()), { passive: true, capture: true });
}

// ask sends a request to a path of the page and returns the response. It fails where the session has ended.
export async function ask(path, init = {}) {
  const headers = { 'X-Trawl-Token': token, ...init.headers };
  if (Date.now() - touched > 60000) headers['X-Trawl-Idle'] = '1';
  let response;
  try {
    response = await fetch(root + path, { cache: 'no-store', ...init, headers });
  } catch {
    throw new Failure('The node does not answer.', 0);
  }
  if (response.status === 401) throw new Failure('You are signed out.', 401);
  return response;
}

// call makes a call of a method and returns its result.
export async function call(method, params, wallet) {
  const path = wallet === undefined ? 'ui/call' : 'ui/call/wallet/' + encodeURIComponent(wallet);
  const response = await ask(path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  let reply;
  try {
    reply = await response.json();
  } catch {
    throw new Failure(`The node refused the call (${response.status}).`, response.status);
  }
  if (reply.error) throw new Failure(reply.error.message, response.status);
  return reply.result;
}

// parse makes elements of HTML that the node has written.
export function parse(html) {
  return new DOMParser().parseFromString(html, 'text/html').body;
}

// fetchPart returns a part of a page, and its tag; null where it is still what has that tag.
export async function fetchPart(path, tag = '', fresh = false) {
  const headers = {};
  if (tag) headers['If-None-Match'] = tag;
  if (fresh) headers['X-Trawl-Fresh'] = '1';
  const response = await ask(path, { headers });
  if (response.status === 304) return null;
  if (!response.ok) throw new Failure(await response.text(), response.status);
  return { part: parse(await response.text()), tag: response.headers.get('ETag') ?? '' };
}

// say tells something to those who listen to the page.
export function say(text) {
  document.getElementById('said').textContent = text;
}

// complain shows what went wrong, with a link or a button if there is one, and returns the note.
export function complain(text, link) {
  const place = document.getElementById('alert');
  const note = document.createElement('p');
  const words = document.createElement('span');
  words.textContent = text;
  note.append(words);
  if (link?.press) {
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = link.text;
    button.addEventListener('click', link.press);
    note.append(button);
  } else if (link) {
    const a = document.createElement('a');
    a.className = 'button';
    a.textContent = link.text;
    a.href = link.href;
    note.append(a);
  } else {
    const close = document.createElement('button');
    close.className = 'quiet';
    close.textContent = 'Close';
    close.addEventListener('click', () => place.replaceChildren());
    note.append(close);
  }
  place.replaceChildren(note);
  return note;
}
