package corenode

import (
	"bufio"
	"encoding/hex"
	"io"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/corenode/access"
)

type chainHash = chainhash.Hash

func bufReader(r io.Reader) *bufio.Reader { return bufio.NewReader(r) }

func hexOf(b []byte) string { return hex.EncodeToString(b) }

func hashOf(salt, password string) string { return access.Hash(salt, password) }
