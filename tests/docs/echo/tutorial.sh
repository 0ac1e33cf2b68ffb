#!/bin/sh

# Say something.
echo hello

# Say nothing.
echo
