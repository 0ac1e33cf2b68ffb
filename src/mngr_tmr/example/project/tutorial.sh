#!/usr/bin/env bash
# Pantry: what is on the shelf. Every block here is a test.

##### Filling the shelf #####

# Put two bags of flour on the shelf.
pantry add flour 2

# See what is there, sorted by name.
pantry list

# The same for a program.
pantry list --json

# Look around on the whole screen; j and k move, q leaves.
pantry browse

##### Using things up #####

# Take one bag of flour.
pantry take flour 1

# Call it by its right name.
pantry rename flour rye

##### What it is worth #####

# Honey has a price.
pantry add honey 2 --price 4.25
pantry total

# In another currency.
pantry total --currency EUR

##### Elsewhere #####

# Write the shelf into a file that a spreadsheet reads.
pantry export shelf.csv

# And read it back.
pantry import shelf.csv

# Send it to the kitchen's server.
pantry sync

##### Help #####

# What it can do.
pantry --help

# Which pantry this is.
pantry --version
