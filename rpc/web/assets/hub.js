// The events of the node, shared by all tabs of this browser: a browser opens six connections to
// a host, and a stream of events keeps one for as long as it is read.
//
// Where there is a SharedWorker, it reads the stream. Elsewhere one of the tabs does, which holds a
// lock, and passes it on; when that tab goes, the next one gets the lock.

const { base, token } = document.documentElement.dataset;
const address = new URL(base + 'ui/events?topics=tip,peer,scan,wallet,search', location.href).href;

// listen calls heard(event, data) for each event, and changed(message) with a state: "on", "out" (logged out), or
// "lost" with how many tries have failed and the wait before the next one. It returns what has the next try be now.
export function listen(heard, changed) {
  const take = (m) => (m.state ? changed(m) : heard(m.event, m.data));
  if (window.SharedWorker) {
    // Another session is another worker: its token opens another stream.
    const worker = new SharedWorker(new URL('events.js', import.meta.url), { name: `${address} ${token}`, type: 'module' });
    worker.port.onmessage = (e) => take(e.data);
    const hello = () => worker.port.postMessage({ address, token });
    hello();
    addEventListener('pagehide', () => worker.port.postMessage('bye'));
    addEventListener('pageshow', (e) => e.persisted && hello());
    return () => worker.port.postMessage('now');
  }
  const channel = new BroadcastChannel(`${address} ${token}`);
  let last = null; // what this tab has said of the stream that it reads
  let hurry = () => {};
  channel.onmessage = (e) => {
    if (e.data === 'now') hurry();
    else if (e.data !== 'state?') take(e.data);
    else if (last) channel.postMessage(last);
  };
  channel.postMessage('state?');
  const lead = async () => {
    const { read } = await import('./events.js');
    await read(address, token, (m) => {
      if (m.state) last = m;
      channel.postMessage(m);
      take(m);
    }, (f) => (hurry = f));
  };
  // Browsers have locks on TLS and on this machine alone; each tab has its own stream elsewhere.
  if (navigator.locks) navigator.locks.request(`${address} ${token}`, lead);
  else lead();
  return () => {
    hurry();
    channel.postMessage('now');
  };
}
