package p2p_test

import (
	"fmt"
	"net"
	"testing"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/p2p"
	"github.com/seed61375155/trawl/internal/p2p/codec"
)

// A counter is an owner that takes everything.
type counter struct {
	s           *p2p.Session
	established chan struct{}
	got         chan struct{}
}

func (c *counter) Established(p2p.Remote) { close(c.established) }
func (c *counter) Misbehaved(error)       {}
func (c *counter) Writable()              {}
func (c *counter) Received(m p2p.Message) {
	if m.Command() == wire.CmdBlock {
		c.got <- struct{}{}
	}
	c.s.Want(1)
}

// BenchmarkBlocks sends blocks of one megabyte over loopback.
func BenchmarkBlocks(b *testing.B) {
	for _, v2 := range []bool{false, true} {
		b.Run(fmt.Sprintf("v2=%v", v2), func(b *testing.B) {
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				b.Fatal(err)
			}
			defer listener.Close()
			dialed, err := net.Dial("tcp", listener.Addr().String())
			if err != nil {
				b.Fatal(err)
			}
			accepted, err := listener.Accept()
			if err != nil {
				b.Fatal(err)
			}
			from := run(b, dialed, p2p.Config{Type: p2p.Manual, Magic: magic, V2: v2})
			to := run(b, accepted, p2p.Config{Magic: magic, V2: v2, Make: func(command string) wire.Message {
				return &codec.Raw{Name: command}
			}})
			<-from.established
			<-to.established
			block := &codec.Raw{Name: wire.CmdBlock, Payload: make([]byte, 1_000_000)}
			b.SetBytes(int64(len(block.Payload)))
			for b.Loop() {
				if err := from.s.Send(block); err != nil {
					b.Fatal(err)
				}
				<-to.got
			}
		})
	}
}

// run runs a session until the benchmark ends.
func run(b *testing.B, conn net.Conn, cfg p2p.Config) *counter {
	b.Helper()
	c := &counter{established: make(chan struct{}), got: make(chan struct{}, 1)}
	c.s = p2p.New(conn, cfg, c)
	c.s.Want(100)
	ended := make(chan error, 1)
	go func() { ended <- c.s.Run(b.Context()) }()
	b.Cleanup(func() {
		c.s.Close(nil)
		<-ended
	})
	return c
}
