package descriptor

import (
	"crypto/sha256"

	"github.com/btcsuite/btcd/btcutil"
)

// wrapped is sh(SCRIPT) or wsh(SCRIPT).
type wrapped struct {
	name  string
	inner script
	lock  func(inner []byte) []byte // output script that commits to inner
	kind  OutputType
}

func (w *wrapped) branches() int      { return w.inner.branches() }
func (w *wrapped) output() OutputType { return w.kind }

func (w *wrapped) appendText(dst []byte, f form) []byte {
	dst = append(append(dst, w.name...), '(')
	return append(w.inner.appendText(dst, f), ')')
}

func (w *wrapped) scripts(keys [][]byte) ([][]byte, error) {
	inner, err := w.inner.scripts(keys)
	if err != nil {
		return nil, err
	}
	return [][]byte{w.lock(inner[0])}, nil
}

func parseSh(p *parser, args string, _ scope) (script, error) {
	inner, err := p.parseWhole(args, inSh)
	if err != nil {
		return nil, err
	}
	kind := Legacy
	if inner.output() == Bech32 {
		kind = P2SHSegwit
	}
	lock := func(script []byte) []byte { return payToScriptHash(btcutil.Hash160(script)) }
	return &wrapped{name: "sh", inner: inner, lock: lock, kind: kind}, nil
}

func parseWsh(p *parser, args string, _ scope) (script, error) {
	inner, err := p.parseWhole(args, inWsh)
	if err != nil {
		return nil, err
	}
	lock := func(script []byte) []byte {
		hash := sha256.Sum256(script)
		return witnessProgram(0, hash[:])
	}
	return &wrapped{name: "wsh", inner: inner, lock: lock, kind: Bech32}, nil
}
