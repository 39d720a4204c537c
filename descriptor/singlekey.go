package descriptor

import (
	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/txscript"
)

// keyScript is a script expression with one key and nothing else, such as
// wpkh(KEY).
type keyScript struct {
	name  string
	key   *key
	build func(key []byte) [][]byte
	kind  OutputType
}

func (s *keyScript) branches() int      { return s.key.branches() }
func (s *keyScript) output() OutputType { return s.kind }

func (s *keyScript) appendText(dst []byte, f form) []byte {
	dst = append(append(dst, s.name...), '(')
	return append(s.key.appendText(dst, f), ')')
}

func (s *keyScript) scripts(keys [][]byte) ([][]byte, error) {
	return s.build(keys[s.key.number]), nil
}

// parseKeyScript reads the key of name(KEY).
func (p *parser) parseKeyScript(
	name, args string, ctx scope, build func([]byte) [][]byte, kind OutputType,
) (script, error) {
	k, err := p.parseKey(args, ctx)
	if err != nil {
		return nil, within(name+"()", err)
	}
	return &keyScript{name: name, key: k, build: build, kind: kind}, nil
}

func parsePk(p *parser, args string, ctx scope) (script, error) {
	build := pkScripts
	if ctx == inTr {
		build = tapPkScripts
	}
	return p.parseKeyScript("pk", args, ctx, build, Unknown)
}

func parsePkh(p *parser, args string, ctx scope) (script, error) {
	return p.parseKeyScript("pkh", args, ctx, pkhScripts, Legacy)
}

func parseCombo(p *parser, args string, ctx scope) (script, error) {
	return p.parseKeyScript("combo", args, ctx, comboScripts, Unknown)
}

func parseWpkh(p *parser, args string, _ scope) (script, error) {
	return p.parseKeyScript("wpkh", args, inWpkh, wpkhScripts, Bech32)
}

func parseRawTr(p *parser, args string, _ scope) (script, error) {
	arg, rest := cutExpression(args)
	if rest != "" {
		return nil, failf("rawtr(): only one key expected.")
	}
	return p.parseKeyScript("rawtr", arg, inTr, rawTrScripts, Bech32m)
}

func pkScripts(key []byte) [][]byte {
	return [][]byte{appendCheckSig(make([]byte, 0, len(key)+2), key)}
}

func tapPkScripts(key []byte) [][]byte {
	return pkScripts(key[1:])
}

func appendCheckSig(dst, key []byte) []byte {
	dst = append(append(dst, byte(len(key))), key...)
	return append(dst, txscript.OP_CHECKSIG)
}

func pkhScripts(key []byte) [][]byte {
	return [][]byte{payToPubKeyHash(btcutil.Hash160(key))}
}

func wpkhScripts(key []byte) [][]byte {
	return [][]byte{witnessProgram(0, btcutil.Hash160(key))}
}

func rawTrScripts(key []byte) [][]byte {
	return [][]byte{witnessProgram(1, key[1:])}
}

// comboScripts returns P2PK and P2PKH and, for compressed keys, P2WPKH and
// P2WPKH within P2SH.
func comboScripts(key []byte) [][]byte {
	hash := btcutil.Hash160(key)
	all := append(pkScripts(key), payToPubKeyHash(hash))
	if len(key) == 33 {
		segwit := witnessProgram(0, hash)
		all = append(all, segwit, payToScriptHash(btcutil.Hash160(segwit)))
	}
	return all
}
