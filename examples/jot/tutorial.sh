#!/usr/bin/env bash
# jot, a list of things to do. Every block below is tested: mngr tutorial check tutorial.sh tests
set -euo pipefail

##### The first note

# see what jot can do
jot --help

# add a note; its words need no quotes
jot add buy milk

# what is there to do?
jot list

# note: notes are kept in ~/.jot.json; the variable JOT_FILE names another file.

##### Getting things done

# a note is done by its number
jot add water the plants
jot done 1

# it was not done after all
jot done 1
jot undo 1

# what is done is still there
jot list --all

# throw a note away
jot rm 1

##### Keeping order

# give notes a tag, and look at one tag only
jot add --tag home fix the lamp
jot list --tag home

# find a word
jot find lamp

# sort by age

# keep two lists apart
JOT_FILE=work.json jot add write the report

##### With other programs

# JSON for scripts
jot list --json

# one note for each line
printf 'eggs\nbread\n' | jot add -

# the list as Markdown
jot export TODO.md

# keep that file up to date while you work
jot mirror TODO.md &

##### On the whole screen

# arrows move, space marks, a adds, d deletes, q leaves
jot board

# colours for tags
