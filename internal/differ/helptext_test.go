package differ_test

import (
	"testing"

	"github.com/seed61375155/trawl/internal/differ"
)

func TestUsage(t *testing.T) {
	const help = `send "to" ( options )

Sends (what there is).

Arguments:
1. to         (string, required) whom
2. options    (json object, optional) how
     {
       "fee": n,  (numeric, optional) inner names do not count
     }

Named Arguments:
fee    (numeric, optional) how much

Result:
{    (json object) neither does what is returned
}

Examples:
1. x (y)
`
	const want = "send \"to\" ( options )\n  1 to\n  2 options\n  - fee\n"
	if got := differ.Usage(help); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
