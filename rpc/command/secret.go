package command

import (
	"slices"

	"github.com/seed61375155/trawl/internal/jsontree"
)

// A Secret is text of a result that is overwritten when the call is answered: a
// private key, or a descriptor that may hold one. It is ASCII.
type Secret []byte

// AppendJSON implements jsontree.Appender.
func (s Secret) AppendJSON(dst []byte) []byte { return jsontree.AppendString(dst, s) }

// String implements fmt.Stringer and hides the secret.
func (Secret) String() string { return "****" }

// GoString implements fmt.GoStringer and hides the secret.
func (Secret) GoString() string { return "****" }

// A Teller is a result with [Secret] texts, which it returns.
type Teller interface{ Secrets() []Secret }

// Masked calls do while the secrets of a result are replaced by other bytes of the same
// number.
func Masked(secrets []Secret, do func()) {
	kept := make([]Secret, len(secrets))
	for i, secret := range secrets {
		kept[i] = slices.Clone(secret)
		for at := range secret {
			secret[at] = '*'
		}
	}
	do()
	for i, secret := range secrets {
		copy(secret, kept[i])
		clear(kept[i])
	}
}

// TakesSecrets reports whether an argument of the command holds secrets, so that an error
// may show secrets too.
func (c *Command) TakesSecrets() bool { return anySecret(c.Params) }

// ShowsSecrets reports whether the result of the command may hold secrets.
func (c *Command) ShowsSecrets() bool { return anyShown(c.Results) }

func (p *Param) secret() bool { return p.Secret || anySecret(p.Inner) }

func anySecret(list []Param) bool {
	return slices.ContainsFunc(list, func(p Param) bool { return p.secret() })
}

func anyShown(list []Result) bool {
	return slices.ContainsFunc(list, func(r Result) bool { return r.Secret || anyShown(r.Inner) })
}

// wipe overwrites what an argument holds of secrets, and of what nothing reads.
func (p *Param) wipe(v *jsontree.Value) {
	switch {
	case p.Secret:
		v.Wipe()
	case !p.secret():
	case v.Kind() == jsontree.Array && p.Type == Array:
		for _, element := range v.Elements() {
			p.Inner[0].wipe(element)
		}
	case v.Kind() == jsontree.Object && p.Type == Object:
		for key, member := range v.Members() {
			i := slices.IndexFunc(p.Inner, func(inner Param) bool { return inner.Name == key })
			if i < 0 {
				member.Wipe()
			} else {
				p.Inner[i].wipe(member)
			}
		}
	default:
		v.Wipe()
	}
}

// TakesSecrets reports whether the call was given secrets, so that an error may show
// secrets too.
func (c *Call) TakesSecrets() bool { return c.command.TakesSecrets() }

// ShowsSecrets reports whether the result may hold secrets.
func (c *Call) ShowsSecrets() bool { return c.command.ShowsSecrets() }

// Wipe overwrites the secrets of a call that was run, in the request that it was
// prepared of.
func (c *Call) Wipe() {
	for i := range c.command.Params {
		c.command.Params[i].wipe(c.args.Value(i))
	}
}
