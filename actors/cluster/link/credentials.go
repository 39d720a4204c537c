package link

import (
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"sync"
	"time"
)

const (
	// Name is what certificates of an operator's own authority have to be for.
	Name = "trawl-cluster"

	// SecretSize is how many bytes a secret has.
	SecretSize = 32

	protocol  = Name + "/1"         // of ALPN: what the bytes of a connection mean
	leafLife  = 30 * 24 * time.Hour // of the certificates that a node makes for itself
	leafRenew = 10 * 24 * time.Hour // of life left, below which it makes the next
)

// Credentials prove to other nodes that this one belongs to the cluster, and tell which of
// them do.
type Credentials struct {
	pool *x509.CertPool // of the authorities that are accepted
	leaf func() (*tls.Certificate, error)
	now  func() time.Time
}

// ParseSecret reads the text of a file with a secret: 64 hexadecimal digits, with white space
// around them. Errors do not show it.
func ParseSecret(text string) ([]byte, error) {
	text = strings.TrimSpace(text)
	secret, err := hex.DecodeString(text)
	if err != nil || len(secret) != SecretSize {
		return nil, fmt.Errorf("a secret has %d hexadecimal digits", 2*SecretSize)
	}
	if !looksRandom(secret) {
		return nil, errors.New("a secret is made by chance, as by openssl rand -hex 32: this one can be guessed")
	}
	return secret, nil
}

// leastDifferent is how many different bytes a secret has at least, and how many different steps
// from byte to byte. Of 32 bytes by chance some 30 differ; fewer than 12 do once in 10^14 secrets.
const leastDifferent = 12

// looksRandom reports whether a secret may have been made by chance: not by repeating or counting,
// and not of a text.
func looksRandom(secret []byte) bool {
	values, steps := map[byte]bool{}, map[byte]bool{}
	text := true
	for i, b := range secret {
		values[b] = true
		if i > 0 {
			steps[b-secret[i-1]] = true
		}
		text = text && b >= ' ' && b <= '~'
	}
	return len(values) >= leastDifferent && len(steps) >= leastDifferent && !text
}

// FromSecrets makes credentials from what all nodes of a cluster share. The first secret is
// this node's; nodes with any of them are accepted, so that it can be changed without a stop.
func FromSecrets(secrets ...[]byte) (*Credentials, error) {
	if len(secrets) == 0 {
		return nil, errors.New("no secret of the cluster")
	}
	c := &Credentials{pool: x509.NewCertPool(), now: time.Now}
	for i, secret := range secrets {
		if len(secret) != SecretSize {
			return nil, fmt.Errorf("a secret has %d bytes", SecretSize)
		}
		a, err := newAuthority(secret)
		if err != nil {
			return nil, err
		}
		c.pool.AddCert(a.cert)
		if i == 0 {
			c.leaf = func() (*tls.Certificate, error) { return a.leaf(c.now()) }
		}
	}
	return c, nil
}

// FromPEM makes credentials from an operator's authority, and the node's own certificate and key. Certificates
// on both sides are for the name [Name].
func FromPEM(ca, cert, key []byte) (*Credentials, error) {
	c := &Credentials{pool: x509.NewCertPool(), now: time.Now}
	if !c.pool.AppendCertsFromPEM(ca) {
		return nil, errors.New("no certificate of an authority")
	}
	own, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("the node's certificate: %w", err)
	}
	if err := own.Leaf.VerifyHostname(Name); err != nil {
		return nil, fmt.Errorf("the node's certificate: %w", err)
	}
	if err := c.accepts(&own); err != nil {
		return nil, fmt.Errorf("the node's certificate: %w", err)
	}
	c.leaf = func() (*tls.Certificate, error) { return &own, nil }
	return c, nil
}

// accepts returns why other nodes of the same authority would not accept a certificate at one of the ends of a
// connection. That it has ended is no reason: the node does whatever else it does.
func (c *Credentials) accepts(own *tls.Certificate) error {
	between := x509.NewCertPool()
	for _, der := range own.Certificate[1:] {
		cert, err := x509.ParseCertificate(der)
		if err != nil {
			return err
		}
		between.AddCert(cert)
	}
	for _, end := range []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth} {
		_, err := own.Leaf.Verify(x509.VerifyOptions{
			Roots: c.pool, Intermediates: between, KeyUsages: []x509.ExtKeyUsage{end}, CurrentTime: c.now(),
		})
		if invalid, ok := errors.AsType[x509.CertificateInvalidError](err); ok && invalid.Reason == x509.Expired {
			continue
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// tls returns the configuration of both sides of a connection.
func (c *Credentials) tls() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS13, ServerName: Name, RootCAs: c.pool, ClientCAs: c.pool,
		ClientAuth:             tls.RequireAndVerifyClientCert,
		Time:                   c.now,
		NextProtos:             []string{protocol},
		SessionTicketsDisabled: true, // each connection proves what it knows
		GetCertificate:         func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return c.leaf() },
		GetClientCertificate:   func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return c.leaf() },
		VerifyConnection: func(s tls.ConnectionState) error {
			if s.NegotiatedProtocol != protocol {
				return errors.New("not a connection of a cluster")
			}
			return s.PeerCertificates[0].VerifyHostname(Name) // a client's is not looked at otherwise
		},
	}
}

// authority is the certificate authority that a secret is. It exists nowhere else.
type authority struct {
	cert *x509.Certificate
	key  ed25519.PrivateKey

	mu  sync.Mutex
	own *tls.Certificate // that was made last
}

func newAuthority(secret []byte) (*authority, error) {
	seed, err := hkdf.Key(sha256.New, secret, nil, "trawl cluster authority v1", ed25519.SeedSize)
	if err != nil {
		return nil, fmt.Errorf("the cluster's authority: %w", err)
	}
	a := &authority{key: ed25519.NewKeyFromSeed(seed)}
	template := &x509.Certificate{ // the same on every node
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: Name + " authority"},
		NotBefore: time.Unix(0, 0), NotAfter: time.Unix(1<<33, 0),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, a.key.Public(), a.key)
	if err == nil {
		a.cert, err = x509.ParseCertificate(der)
	}
	if err != nil {
		return nil, fmt.Errorf("the cluster's authority: %w", err)
	}
	return a, nil
}

// leaf returns a certificate of this node, renewed before it ends, and where the clock was set back to
// before it begins.
func (a *authority) leaf(now time.Time) (*tls.Certificate, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.own != nil && a.own.Leaf.NotAfter.Sub(now) > leafRenew && !now.Before(a.own.Leaf.NotBefore) {
		return a.own, nil
	}
	public, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("the node's certificate: %w", err)
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, fmt.Errorf("the node's certificate: %w", err)
	}
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: Name}, DNSNames: []string{Name},
		NotBefore: now.Add(-24 * time.Hour), NotAfter: now.Add(leafLife), // clocks differ
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}, a.cert, public, a.key)
	if err != nil {
		return nil, fmt.Errorf("the node's certificate: %w", err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("the node's certificate: %w", err)
	}
	a.own = &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}
	return a.own, nil
}
