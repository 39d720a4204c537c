package descriptor

import (
	"encoding/hex"
	"strings"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"

	"github.com/seed61375155/trawl/descriptor/internal/hdkey"
)

// parseKey reads one key expression and gives it its number.
func (p *parser) parseKey(text string, ctx scope) (k *key, err error) {
	if strings.HasPrefix(text, "musig(") {
		if ctx != inTr {
			return nil, failf("musig() is only allowed in tr() and rawtr()")
		}
		source, err := p.parseMusig(text)
		if err != nil {
			return nil, err
		}
		k = &key{keySource: source}
	} else if k, err = p.parseSingleKey(text, ctx); err != nil {
		return nil, err
	}
	k.expression = p.expressions
	p.expressions++
	if ctx != inMusig {
		k.number = len(p.keys)
		p.keys = append(p.keys, k)
	}
	return k, nil
}

// parseSingleKey reads [origin]KEY/path.
func (p *parser) parseSingleKey(text string, ctx scope) (*key, error) {
	k := &key{}
	var path pathParser
	before, after, hasOrigin := strings.Cut(text, "]")
	if strings.Contains(after, "]") {
		return nil, failf("Multiple ']' characters found for a single pubkey")
	}
	if hasOrigin {
		origin, err := parseOrigin(before, &path)
		if err != nil {
			return nil, err
		}
		k.origin, text = origin, after
	}
	source, err := p.parseKeySource(text, ctx, &path)
	if err != nil {
		return nil, err
	}
	k.keySource, k.apostrophe = source, path.apostrophe
	return k, nil
}

// parseOrigin reads the part of a key expression before the closing bracket.
func parseOrigin(text string, path *pathParser) (*keyOrigin, error) {
	inner, ok := strings.CutPrefix(text, "[")
	if !ok {
		got := (text + "]")[:1]
		return nil, failf("Key origin start '[ character expected but not found, got '%s' instead", got)
	}
	parts := strings.Split(inner, "/")
	fingerprint := parts[0]
	if len(fingerprint) != 8 {
		return nil, failf("Fingerprint is not 4 bytes (%d characters instead of 8 characters)", len(fingerprint))
	}
	raw, err := hex.DecodeString(fingerprint)
	if err != nil {
		return nil, failf("Fingerprint '%s' is not hex", fingerprint)
	}
	steps, err := path.parse(parts[1:], false)
	if err != nil {
		return nil, err
	}
	return &keyOrigin{fingerprint: [4]byte(raw), steps: steps.steps}, nil
}

// parseKeySource reads a key expression without origin.
func (p *parser) parseKeySource(text string, ctx scope, path *pathParser) (keySource, error) {
	head, tail, hasPath := strings.Cut(text, "/")
	if head == "" {
		return nil, failf("No key provided")
	}
	if strings.Trim(head, asciiSpace) != head {
		return nil, failf("Key '%s' is invalid due to whitespace", head)
	}
	if !hasPath {
		if isHex(head) {
			return parseHexKey(head, ctx)
		}
		if secret, ok := decodeWIF(head, p.net); ok {
			return p.constantSecret(secret, ctx)
		}
	}
	root, ok := p.decodeExtended(head)
	if !ok {
		return nil, failf("key '%s' is not valid", head)
	}
	var parts []string
	if hasPath {
		parts = strings.Split(tail, "/")
	}
	parts, last := path.cutWildcard(parts)
	steps, err := path.parse(parts, true)
	if err != nil {
		return nil, err
	}
	return &extendedKey{root: root, path: steps, last: last}, nil
}

func parseHexKey(text string, ctx scope) (keySource, error) {
	raw, err := hex.DecodeString(text)
	if err != nil {
		return nil, failf("Pubkey '%s' is invalid", text)
	}
	if validKeySize(raw) && raw[0] > secp256k1.PubKeyFormatUncompressed {
		return nil, failf("Hybrid public keys are not allowed")
	}
	if _, err := secp256k1.ParsePubKey(raw); err == nil {
		if len(raw) != 33 && !ctx.allowsUncompressed() {
			return nil, failf("Uncompressed keys are not allowed")
		}
		return &constantKey{public: raw}, nil
	}
	if len(raw) == 32 && ctx == inTr && onCurve(raw) {
		return &constantKey{public: append([]byte{secp256k1.PubKeyFormatCompressedEven}, raw...), xOnly: true}, nil
	}
	return nil, failf("Pubkey '%s' is invalid", text)
}

func (p *parser) constantSecret(secret *secretKey, ctx scope) (keySource, error) {
	if !secret.compressed && !ctx.allowsUncompressed() {
		return nil, failf("Uncompressed keys are not allowed")
	}
	public := secret.public()
	p.secrets.add(public, secret)
	return &constantKey{public: public, xOnly: ctx == inTr}, nil
}

// decodeExtended reads an extended key of the network, public or private.
func (p *parser) decodeExtended(text string) (hdkey.Key, bool) {
	raw, ok := decodeBase58Check(text)
	if !ok || len(raw) != 4+hdkey.PayloadSize {
		return hdkey.Key{}, false
	}
	defer clear(raw)
	version, payload := [4]byte(raw), (*[hdkey.PayloadSize]byte)(raw[4:])
	switch {
	case p.net.xpub(version):
		return hdkey.ParsePublic(payload)
	case p.net.xprv(version):
		root, ok := hdkey.ParsePrivate(payload)
		if ok {
			p.secrets.add(root.PublicKey[:], &secretKey{scalar: root.Secret(), compressed: true})
		}
		return root, ok
	}
	return hdkey.Key{}, false
}
