package walletfile

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/btcutil/base58"

	"github.com/seed61375155/trawl/descriptor"
)

// errLastHardened reports a key whose last hardened step is not in the cache.
var errLastHardened = errors.New("last hardened key is not in the cache")

// NormalizedText returns the public text that listdescriptors shows, which can
// be used without private keys: hardened steps are moved into the origin of the
// key after the last hardened step. Keys after hardened wildcards, and those
// inside miniscript, stay as they are.
//
// Errors: one if the cache lacks a last hardened key, as in files of Core
// before v22.
func (d *Descriptor) NormalizedText(net *descriptor.Network) (string, error) {
	body, _, _ := strings.Cut(d.Parsed.String(), "#")
	var out strings.Builder
	done := 0
	for _, key := range keyExpressions(body) {
		if key.miniscript || key.start < done { // a musig is done with its participants
			continue
		}
		text, err := d.normalizeKey(body[key.start:key.end], key, net)
		if err != nil {
			return "", fmt.Errorf("key expression %d: %w", key.number, err)
		}
		out.WriteString(body[done:key.start])
		out.WriteString(text)
		done = key.end
	}
	out.WriteString(body[done:])
	return descriptor.AddChecksum(out.String()), nil
}

// normalizeKey normalizes a key expression other than a musig.
func (d *Descriptor) normalizeKey(text string, key keyExpression, net *descriptor.Network) (string, error) {
	text = strings.ReplaceAll(text, "'", "h")
	origin, bare, hasOrigin := strings.Cut(text, "]")
	if !hasOrigin {
		origin, bare = "", text
	}
	path := strings.Split(bare, "/")
	last := len(path) - 1 // of the hardened steps; the key itself is first
	for last > 0 && !strings.HasSuffix(path[last], "h") {
		last--
	}
	if last == 0 || !key.extended || key.last == hardenedWildcard {
		return text, nil
	}
	xpub, ok := d.LastHardened[key.number]
	if !ok {
		return "", errLastHardened
	}
	if !hasOrigin {
		origin = "[" + fingerprint(path[0])
	}
	moved := append([]string{origin}, path[1:last+1]...)
	kept := append([]string{encodeXpub(&xpub, net)}, path[last+1:]...)
	return strings.Join(moved, "/") + "]" + strings.Join(kept, "/"), nil
}

// fingerprint returns that of an extended key in base58.
func fingerprint(xpub string) string {
	const keyEnd = 4 + extKeySize // after the version
	payload := base58.Decode(xpub)
	if len(payload) < keyEnd {
		return ""
	}
	return hex.EncodeToString(btcutil.Hash160(payload[keyEnd-33 : keyEnd])[:4])
}
