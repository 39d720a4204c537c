// Reads the stream of events: in a SharedWorker for all tabs, or in a tab for those that have none.

// read passes on what comes, until the login has ended. A stream that breaks is opened again, later
// and later, or at once when hurry is called, which it gives to hasten.
export async function read(address, token, pass, hasten = () => {}) {
  let tries = 0; // that have failed since the last stream
  for (let wait = 1000; ; wait = Math.min(wait * 2, 30000)) {
    try {
      const response = await fetch(address, { method: 'POST', headers: { 'X-Trawl-Token': token, 'X-Trawl-Idle': '1' }, cache: 'no-store' });
      if (response.status === 401 || response.status === 403) {
        pass({ state: 'out' });
        return;
      }
      if (response.ok) {
        pass({ state: 'on' });
        wait = 1000;
        tries = 0;
        await events(response.body.pipeThrough(new TextDecoderStream()).getReader(), pass);
      }
    } catch {
      // the node is away
    }
    tries += 1;
    pass({ state: 'lost', wait, tries });
    await new Promise((done) => {
      setTimeout(done, wait);
      hasten(done);
    });
  }
}

// events passes on the events of a stream until it ends.
async function events(reader, pass) {
  let rest = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const blocks = (rest + value).split('\n\n');
    rest = blocks.pop();
    for (const block of blocks) {
      let event = '';
      let data = '';
      for (const line of block.split('\n')) {
        if (line.startsWith('event: ')) event = line.slice(7);
        if (line.startsWith('data: ')) data += line.slice(6);
      }
      if (event) pass({ event, data: JSON.parse(data) });
    }
  }
}

if (typeof SharedWorkerGlobalScope !== 'undefined') {
  const ports = new Set();
  let last = null;
  let reading = false;
  let hurry = () => {};
  self.onconnect = (connected) => {
    const port = connected.ports[0];
    port.onmessage = async (e) => {
      if (e.data === 'bye') {
        ports.delete(port);
        return;
      }
      if (e.data === 'now') {
        hurry();
        return;
      }
      ports.add(port);
      if (last) port.postMessage(last);
      if (reading) return;
      reading = true;
      await read(e.data.address, e.data.token, (m) => {
        if (m.state) last = m;
        for (const p of ports) p.postMessage(m);
      }, (f) => (hurry = f));
      reading = false;
      last = null;
    };
  };
}
