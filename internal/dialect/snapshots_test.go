package dialect_test

import (
	"testing"

	"github.com/seed61375155/trawl/internal/dialect"
)

func TestNetworkOf(t *testing.T) {
	own, err := dialect.Named(dialect.NameQbit, "regtest", dialect.Choices{})
	if err != nil {
		t.Fatal(err)
	}
	own.Magic = [4]byte{1, 2, 3, 4}
	for magic, want := range map[[4]byte]string{
		own.Magic: "regtest", {0xf9, 0xbe, 0xb4, 0xd9}: "main", {0x0b, 0x11, 0x09, 0x07}: "test",
		{0x1c, 0x16, 0x3f, 0x28}: "testnet4", {0x0a, 0x03, 0xcf, 0x40}: "signet", {0xfa, 0xbf, 0xb5, 0xda}: "regtest",
		{}: "", {0xff, 0xff, 0xff, 0xff}: "",
	} {
		if got := own.NetworkOf(magic); got != want {
			t.Errorf("%x: %q, want %q", magic, got, want)
		}
	}
}
