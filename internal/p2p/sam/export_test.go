package sam

// Base64 is base 64 as I2P writes it.
var Base64 = i2pBase64
