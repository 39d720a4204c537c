package netrpc_test

import (
	"testing"

	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/method/netrpc"
)

// A text that is no address is no success with Bitcoin Core 30, and an error with later versions.
func TestAddPeerAddress(t *testing.T) {
	const refused = "Invalid IP address (-30)"
	for _, test := range []struct {
		added         messages.AddedAddress
		quiet         bool
		result, error string
	}{
		{messages.AddedAddress{Added: true}, false, `{"success":true}`, ""},
		{messages.AddedAddress{Added: true}, true, `{"success":true}`, ""},
		{messages.AddedAddress{Failed: "full"}, false, `{"error":"full","success":false}`, ""},
		{messages.AddedAddress{}, true, `{"success":false}`, ""},
		{messages.AddedAddress{}, false, "", refused},
	} {
		d := netrpc.Deps{Peers: (&table{address: test.added}).start(t), AddressesOnly: !test.quiet}
		params, err := jsontree.Parse([]byte(`["x", 8333]`))
		if err != nil {
			t.Fatal(err)
		}
		got, err := tryWith(t, dialect.Core30, d, "addpeeraddress", params)
		if got != test.result || err == nil != (test.error == "") || err != nil && err.Error() != test.error {
			t.Errorf("%+v: %s, %v", test, got, err)
		}
	}
}
