package e2e_test

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	random "math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed61375155/trawl/actors/cluster/wire"
)

// A stranger is of a cluster whose nodes have certificates of an authority, and says whatever it likes.
type stranger struct {
	*testing.T
	options  []string // of a node of the cluster
	address  string
	tls      *tls.Config
	listener net.Listener
	group    sync.WaitGroup

	conn net.Conn
	w    *bufio.Writer
	rng  *random.Rand

	open     wire.Message // that a node would take
	sessions [][16]byte
	last     []byte

	heard, done atomic.Int64 // messages, and of them answers to units
	mu          sync.Mutex
	asked       []*wire.Message // what was asked of it lately
	conns       []net.Conn
}

func newStranger(t *testing.T) *stranger {
	t.Helper()
	chain, key := clusterCertificate(t)
	s := &stranger{
		T: t, options: []string{"-clusterca=" + chain, "-clustercert=" + chain, "-clusterkey=" + key},
		rng: random.New(random.NewPCG(uint64(time.Now().UnixNano()), 1)),
	}
	own, err := tls.LoadX509KeyPair(chain, key)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(own.Leaf)
	s.tls = &tls.Config{
		MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{own}, RootCAs: pool, ServerName: "trawl-cluster",
		NextProtos: []string{"trawl-cluster/1"}, ClientAuth: tls.RequireAnyClientCert,
	}
	if s.listener, err = tls.Listen("tcp", "127.0.0.1:0", s.tls); err != nil {
		t.Fatal(err)
	}
	s.address = s.listener.Addr().String()
	s.group.Go(s.accept)
	t.Cleanup(s.close)
	return s
}

// clusterCertificate writes a certificate that vouches for itself, and its key, to files.
func clusterCertificate(t *testing.T) (chain, key string) {
	t.Helper()
	secret, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	about := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(24 * time.Hour), DNSNames: []string{"trawl-cluster"},
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	signed, err := x509.CreateCertificate(rand.Reader, about, about, &secret.PublicKey, secret)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(secret)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	chain, key = filepath.Join(dir, "cluster.pem"), filepath.Join(dir, "cluster.key")
	for path, block := range map[string]*pem.Block{
		chain: {Type: "CERTIFICATE", Bytes: signed}, key: {Type: "PRIVATE KEY", Bytes: private},
	} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return chain, key
}

// accept takes what the node says, and says that it is there.
func (s *stranger) accept() {
	for {
		conn, err := s.listener.Accept()
		if err != nil {
			return
		}
		s.keep(conn)
		s.group.Go(func() { s.read(conn) })
		s.group.Go(func() { beat(conn) })
	}
}

func (s *stranger) keep(conn net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conns = append(s.conns, conn)
}

func (s *stranger) close() {
	_ = s.listener.Close()
	s.mu.Lock()
	for _, conn := range s.conns {
		_ = conn.Close()
	}
	s.mu.Unlock()
	s.group.Wait()
}

// beat says that it is there until the connection ends.
func beat(conn net.Conn) {
	for {
		if _, err := conn.Write([]byte{0}); err != nil {
			return
		}
		<-time.After(time.Second)
	}
}

// read takes frames of a connection until it ends.
func (s *stranger) read(conn net.Conn) {
	r := bufio.NewReader(conn)
	for {
		var head [4]byte
		if _, err := io.ReadFull(r, head[:]); err != nil {
			return
		}
		frame := make([]byte, binary.BigEndian.Uint32(head[:]))
		if _, err := io.ReadFull(r, frame); err != nil {
			return
		}
		m, err := wire.Parse(frame)
		if err != nil || m.Kind == 0 {
			continue // its address
		}
		s.heard.Add(1)
		if m.Kind == wire.Done && m.Text == "" {
			s.done.Add(1)
		}
		switch m.Kind {
		case wire.Hello, wire.Open, wire.Chunk, wire.Unit, wire.Cancel, wire.Close, wire.Fetch:
			s.mu.Lock()
			if s.asked = append(s.asked, m); len(s.asked) > 16 {
				s.asked = s.asked[1:]
			}
			s.mu.Unlock()
		default: // an answer
		}
	}
}

// connect connects to a node.
func (s *stranger) connect(to string) {
	s.Helper()
	conn, err := tls.Dial("tcp", to, s.tls)
	if err != nil {
		s.Fatal(err)
	}
	s.keep(conn)
	s.conn, s.w = conn, bufio.NewWriterSize(conn, 64<<10)
	s.group.Go(func() { _, _ = io.Copy(io.Discard, conn) })
	s.write([]byte(s.address))
}

func (s *stranger) write(frame []byte) {
	s.Helper()
	var head [4]byte
	binary.BigEndian.PutUint32(head[:], uint32(len(frame)))
	_, err := s.w.Write(head[:])
	if err == nil {
		_, err = s.w.Write(frame)
	}
	if err == nil && s.rng.IntN(16) == 0 {
		err = s.w.Flush()
	}
	if err != nil {
		s.Fatal(errors.Join(errors.New("the node has ended the connection"), err))
	}
}
