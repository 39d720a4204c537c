package rawtxrpc

import (
	"context"
	"encoding/hex"
	"strings"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/internal/p2mr"
	"github.com/seed61375155/trawl/internal/rawtx"
	"github.com/seed61375155/trawl/internal/slhdsa"
	"github.com/seed61375155/trawl/rpc/command"
)

var (
	errPQCKey = command.Error{Code: command.InvalidAddressOrKey, Message: "Invalid PQC private key"}
	errNoWIF  = command.Error{
		Code:    command.InvalidAddressOrKey,
		Message: "Legacy WIF private keys are disabled on this chain; use pqc(KEY) expressions",
	}
)

const (
	pqcBegin = "pqc("
	pqcEnd   = ")"
)

// isPQC reports whether a private key is one of P2MR: pqc(KEY).
func isPQC(text string) bool {
	return len(text) > len(pqcBegin) && strings.HasPrefix(text, pqcBegin) && strings.HasSuffix(text, pqcEnd)
}

// readPQCKey reads pqc(KEY), in which KEY is the private key itself in hex, or an
// extended private key that it is derived from.
func (m *methods) readPQCKey(ctx context.Context, text string, s *rawtx.Signing) error {
	inner := strings.TrimSuffix(strings.TrimPrefix(text, pqcBegin), pqcEnd)
	if raw, err := hex.DecodeString(inner); err == nil && len(raw) == slhdsa.PrivateKeySize {
		defer clear(raw)
		key, err := slhdsa.ParsePrivateKey(raw)
		if err == nil {
			err = key.Check()
		}
		if err != nil {
			return errPQCKey
		}
		s.AddPQCKey(key)
		return nil
	}
	branches, err := descriptor.Parse("mr(pk("+text+"))", m.net, descriptor.Options{})
	if err != nil || len(branches) != 1 || branches[0].IsRanged() {
		return errPQCKey
	}
	derived, err := branches[0].P2MRKeys(ctx, 0, 0)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil || len(derived) == 0 {
		return errPQCKey
	}
	for _, d := range derived {
		key, err := slhdsa.ParsePrivateKey(d.Secret)
		clear(d.Secret)
		if err != nil {
			return errPQCKey
		}
		s.AddPQCKey(key)
	}
	return nil
}

// readP2MRLeaf reads the script that a P2MR output is to be spent by.
func readP2MRLeaf(v *jsontree.Value, pkScript []byte, s *rawtx.Signing) error {
	_, isP2MR := p2mr.ParseOutputScript(pkScript)
	scriptValue, controlValue, versionValue := v.Get("p2mrScript"), v.Get("p2mrControlBlock"), v.Get("p2mrLeafVersion")
	if !isP2MR {
		if scriptValue != nil || controlValue != nil || versionValue != nil {
			return invalid("p2mrScript/p2mrControlBlock require a P2MR scriptPubKey")
		}
		return nil
	}
	if err := checkP2MRTypes(v); err != nil {
		return err
	}
	if scriptValue.IsNull() && controlValue.IsNull() {
		return nil
	}
	if scriptValue.IsNull() || controlValue.IsNull() {
		return invalid("Missing p2mrScript/p2mrControlBlock")
	}
	script, err := parseHex(scriptValue, "p2mrScript")
	if err != nil {
		return err
	}
	control, err := parseHex(controlValue, "p2mrControlBlock")
	if err != nil {
		return err
	}
	if err := checkP2MRControl(control, versionValue); err != nil {
		return err
	}
	if !s.AddP2MRLeaf(pkScript, script, control) {
		return invalid("p2mrScript/p2mrControlBlock does not match scriptPubKey")
	}
	return nil
}

func invalid(text string) error { return command.Error{Code: command.InvalidParameter, Message: text} }

func checkP2MRTypes(v *jsontree.Value) error {
	for _, want := range []struct {
		key  string
		kind jsontree.Kind
	}{
		{"p2mrScript", jsontree.String}, {"p2mrControlBlock", jsontree.String}, {"p2mrLeafVersion", jsontree.Number},
	} {
		if got := v.Get(want.key).Kind(); got != want.kind && got != jsontree.Null {
			return command.Errorf(command.TypeError,
				"JSON value of type %v for field %s is not of expected type %v", got, want.key, want.kind)
		}
	}
	return nil
}

// checkP2MRControl checks a control block, and the version that may be given
// beside it.
func checkP2MRControl(control []byte, versionValue *jsontree.Value) error {
	const node, versionMask = 32, 0xfe
	if len(control)%node != 1 || len(control)/node > p2mr.MaxDepth {
		return invalid("Invalid P2MR control block size")
	}
	if control[0]&1 == 0 {
		return invalid("P2MR control byte bit 0 must be set")
	}
	if versionValue == nil {
		return nil
	}
	version, err := versionValue.AsInt32()
	switch {
	case err != nil:
		return err
	case version < 0 || version > 0xff:
		return invalid("p2mrLeafVersion out of range")
	case int32(control[0]&versionMask) != version:
		return invalid("p2mrLeafVersion does not match p2mrControlBlock")
	}
	return nil
}
