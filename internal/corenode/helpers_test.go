package corenode

import (
	"bufio"
	"encoding/hex"
	"io"
	"log"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/corenode/access"
)

type chainHash = chainhash.Hash

func bufReader(r io.Reader) *bufio.Reader { return bufio.NewReader(r) }

var quiet = log.New(io.Discard, "", 0)

func hexOf(b []byte) string { return hex.EncodeToString(b) }

func hashOf(salt, password string) string { return access.Hash(salt, password) }
