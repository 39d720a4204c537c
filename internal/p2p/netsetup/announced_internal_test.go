package netsetup

import (
	"fmt"
	"strings"
	"testing"
)

// Where the node is bound, peers are told of these addresses alone, and of their ports.
func TestLocalAddressesOfBinds(t *testing.T) {
	for _, test := range []struct {
		external, bind, whitebind []string
		want                      string
	}{
		{[]string{"2.2.2.2"}, nil, nil, "2.2.2.2:7 4"},
		{[]string{"2.2.2.2"}, []string{"1.1.1.1"}, nil, "2.2.2.2:7 4|1.1.1.1:7 2"},
		{[]string{"2.2.2.2"}, []string{"127.0.0.1", "1.1.1.1:9"}, nil, "2.2.2.2:9 4|1.1.1.1:9 2"},
		{[]string{"2.2.2.2:5"}, []string{"1.1.1.1:9", "1.1.1.1:8=onion"}, nil, "2.2.2.2:5 4|1.1.1.1:9 2"},
		{[]string{"2.2.2.2"}, []string{"1.1.1.1:9"}, []string{"1.1.1.1:11"}, "2.2.2.2:9 4|1.1.1.1:9 2|1.1.1.1:11 2"},
		{[]string{"2.2.2.2"}, nil, []string{"noban@1.1.1.1:10", "1.1.1.1:11"}, "2.2.2.2:11 4|1.1.1.1:11 2"},
	} {
		binds := Binds{Bind: test.bind, Whitebind: test.whitebind, Port: 7}
		discover := len(test.bind)+len(test.whitebind) > 0 // else the interfaces of this host count
		list, err := LocalAddresses(test.external, discover, binds, nil)
		if err != nil {
			t.Fatal(err)
		}
		var each []string
		for _, l := range list {
			each = append(each, fmt.Sprintf("%v %d", l.Addr, l.Score))
		}
		if got := strings.Join(each, "|"); got != test.want {
			t.Errorf("%v %v %v: got %s, want %s", test.external, test.bind, test.whitebind, got, test.want)
		}
	}
}
