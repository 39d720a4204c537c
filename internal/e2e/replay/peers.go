package replay

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
)

const (
	// gone is how long a peer may take to see that it was disconnected: generous,
	// for a busy machine.
	gone = 10 * time.Second

	// stays is how long a peer is watched that is to stay.
	stays = 50 * time.Millisecond

	peerProtocol = 70016
	headerSize   = 24
)

// A peer is a connection to the node from its network.
type peer struct {
	net.Conn

	magic [4]byte
	acked chan struct{} // closed when the node has shaken hands
	ended chan struct{} // closed when the node has closed the connection
}

// peers plays an action of peers.
func (p *Player) playPeers(ctx context.Context, c *Case) Outcome {
	if p.P2P == "" {
		return failed(Precondition, "no address for peers")
	}
	switch c.Action {
	case "peer-open":
		return p.openPeers(ctx, c)
	case "peer-check":
		return p.checkPeers(ctx, c)
	default:
		p.ClosePeers()
		return Outcome{}
	}
}

// ClosePeers closes the connections of peers that are left.
func (p *Player) ClosePeers() {
	for _, peer := range p.peers {
		_ = peer.Close()
	}
	p.peers = nil
}

func (p *Player) openPeers(ctx context.Context, c *Case) Outcome {
	if p.peers == nil {
		p.peers, p.vars = make(map[string]*peer), make(map[string]string)
	}
	for _, name := range c.Peers {
		peer, err := openPeer(ctx, p.P2P, c.Magic)
		if err != nil {
			return failed(Precondition, "peer %s: %v", name, err)
		}
		p.peers[name] = peer
		addr := peer.LocalAddr().String()
		p.vars["addr_"+name] = addr
		_, p.vars["port_"+name], _ = net.SplitHostPort(addr)
		id, err := p.idOf(ctx, addr)
		if err != nil {
			return failed(Precondition, "peer %s: %v", name, err)
		}
		p.vars["id_"+name] = strconv.FormatInt(id, 10)
	}
	return Outcome{}
}

var errNoPeer = errors.New("is not in getpeerinfo")

// idOf returns the id under which the node knows a peer.
func (p *Player) idOf(ctx context.Context, addr string) (int64, error) {
	var list []struct {
		ID   int64  `json:"id"`
		Addr string `json:"addr"`
	}
	if err := p.Client.Call(ctx, &list, "getpeerinfo"); err != nil {
		return 0, err
	}
	for _, entry := range list {
		if entry.Addr == addr {
			return entry.ID, nil
		}
	}
	return 0, errNoPeer
}

func (p *Player) checkPeers(ctx context.Context, c *Case) Outcome {
	for _, name := range c.Closed {
		select {
		case <-p.peers[name].ended:
		case <-time.After(gone):
			return failed(Value, "peer %s is still connected", name)
		}
		if err := p.waitGone(ctx, p.vars["addr_"+name]); err != nil {
			return failed(Value, "peer %s: %v", name, err)
		}
	}
	for _, name := range c.Open {
		select {
		case <-p.peers[name].ended:
			return failed(Value, "peer %s was disconnected", name)
		case <-time.After(stays / time.Duration(len(c.Open))):
		}
	}
	return Outcome{}
}

// waitGone waits until the node does not list a peer any more.
func (p *Player) waitGone(ctx context.Context, addr string) error {
	for end := time.Now().Add(gone); ; <-time.After(pollEvery) {
		_, err := p.idOf(ctx, addr)
		if errors.Is(err, errNoPeer) {
			return nil
		}
		if err == nil && time.Now().After(end) {
			err = errors.New("closed, but still in getpeerinfo")
		}
		if err != nil {
			return err
		}
	}
}

// openPeer connects to a node and shakes hands.
func openPeer(ctx context.Context, addr, magic string) (*peer, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	p := &peer{Conn: conn, acked: make(chan struct{}), ended: make(chan struct{})}
	if _, err := hex.Decode(p.magic[:], []byte(magic)); err != nil {
		return nil, err
	}
	go p.read()
	if err := p.send("version", versionPayload()); err != nil {
		return nil, err
	}
	select {
	case <-p.acked:
		return p, nil
	case <-time.After(gone):
		return nil, errors.New("no handshake")
	}
}

func versionPayload() []byte {
	b := binary.LittleEndian.AppendUint32(nil, peerProtocol)
	b = binary.LittleEndian.AppendUint64(b, 0) // services
	b = binary.LittleEndian.AppendUint64(b, uint64(time.Now().Unix()))
	b = append(b, make([]byte, 26+26)...) // addresses
	b = binary.LittleEndian.AppendUint64(b, 1)
	b = append(b, 0)                           // user agent
	b = binary.LittleEndian.AppendUint32(b, 0) // height
	return append(b, 1)
}

func (p *peer) send(command string, payload []byte) error {
	var b bytes.Buffer
	var name [12]byte
	copy(name[:], command)
	first := sha256.Sum256(payload)
	sum := sha256.Sum256(first[:])
	b.Write(p.magic[:])
	b.Write(name[:])
	b.Write(binary.LittleEndian.AppendUint32(nil, uint32(len(payload))))
	b.Write(sum[:4])
	b.Write(payload)
	_, err := p.Write(b.Bytes())
	return err
}

// read answers what the node needs an answer to, until the end.
func (p *peer) read() {
	defer close(p.ended)
	for {
		var header [headerSize]byte
		if _, err := io.ReadFull(p, header[:]); err != nil {
			return
		}
		payload := make([]byte, binary.LittleEndian.Uint32(header[16:20]))
		if _, err := io.ReadFull(p, payload); err != nil {
			return
		}
		switch strings.TrimRight(string(header[4:16]), "\x00") {
		case "version":
			_ = p.send("verack", nil)
		case "verack":
			close(p.acked)
		case "ping":
			_ = p.send("pong", payload)
		}
	}
}

// fill replaces the placeholders of peers by their values.
func (p *Player) fill(text string) string {
	for name, value := range p.vars {
		text = strings.ReplaceAll(text, fmt.Sprintf("{{var:%s}}", name), value)
	}
	return text
}
