package arg

import (
	"strings"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/jsontree"
)

// ShownText returns how a scan object is shown: as it was given, without annotations, unless that has private keys or
// stands for more than one descriptor. The branch is nil for raw scripts and addresses.
func ShownText(v *jsontree.Value, branch *descriptor.Descriptor) string {
	text := v.Text()
	if v.Kind() == jsontree.Object {
		text = v.Get("desc").Text()
	}
	if branch != nil && (branch.HasPrivateKeys() || strings.Contains(text, "<")) {
		return branch.String()
	}
	plain, _, err := descriptor.CutAnnotations(text)
	switch {
	case err != nil || len(plain) == len(text):
		return strings.Clone(text) // what was sent is overwritten after the call
	case strings.Contains(text, "#"):
		return descriptor.AddChecksum(plain)
	}
	return strings.Clone(plain)
}

// WidenedText returns how a scan object is shown whose range widens: a text without private keys that gives the scripts
// of each index. It is false if there is none: only private keys give keys behind a hardened wildcard.
func WidenedText(v *jsontree.Value, branch *descriptor.Descriptor) (text string, ok bool) {
	if !branch.HasPrivateKeys() {
		return ShownText(v, branch), true
	}
	text, err := descriptor.NormalizedPolicies(branch)
	if err != nil {
		return "", false
	}
	return text, true
}

// Derivable reports whether everyone can derive the script of a descriptor at an index, without private keys.
func Derivable(text string, index uint32, net *descriptor.Network) bool {
	if _, fixed := descriptor.FixedScript(text, net); fixed {
		return true
	}
	branches, err := descriptor.Parse(text, net, descriptor.Options{})
	if err != nil || len(branches) != 1 || branches[0].HasPrivateKeys() {
		return false
	}
	_, err = branches[0].Expand(index)
	return err == nil
}
