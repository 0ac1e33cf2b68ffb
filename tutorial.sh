#!/usr/bin/env bash
# mngr by example: from the first agent on this machine to an agent for every test of a project.
# A block is one example, to be typed inside a git repository. Each is run by a test in tests/e2e.
set -eu

##############################################################################
# FINDING YOUR WAY
##############################################################################

# what can it do? these other commands are covered in their own sections below
mngr --help

# which version is this?
mngr --version

# is anything missing on this machine? each finding comes with the command that fixes it
mngr doctor

# help on a command comes with examples; there is also help on topics
mngr help create
mngr help address

# the whole of it in three lines: start a program in a working copy of its own, look at it, remove it
mngr create hello -- sleep 600
mngr list
mngr destroy hello --yes

##############################################################################
# CREATING AGENTS
##############################################################################

# an agent works in a git worktree of its own, on branch mngr/NAME; your checkout stays as it is
mngr create fix-login -- bash

# it needs no name: it gets one of readable words
mngr create -- sleep 600

# a coding agent is a type; claude, codex and opencode are real ones, scripted is a stand-in that costs nothing
mngr create writer scripted -m "write the docs"

# a first message that grew too long for the command line
mngr create writer scripted --message-file task.md

# be taken to its terminal at once
mngr create pair --connect -- bash

# variables: given here, from a file, or handed on from your shell; no shell ever evaluates them
mngr create server --env PORT=8080 --env-file .env --pass-env EDITOR -- sleep 600

# labels and a project, to find it by
mngr create nightly --label task=docs --label batch=7 --project website -- sleep 600

# a second window in its session, for a log or a server
mngr create web -w log="tail -F server.log" -- bash

# run something to its end: its lines are shown, and its exit code is ours
mngr create check --foreground -- sh -c 'grep -c repository README.md'

# record its terminal, and keep the recording as an asciicast
mngr create filmed --record -- sh -c 'echo action; sleep 600'
mngr capture filmed --cast > filmed.cast

# take the agent of that name if there is one
mngr create helper --reuse -- sleep 600
mngr create helper --reuse -- sleep 600

# what would it do?
mngr create someday --dry-run -- sleep 600

# options that you often use together: a template
mngr config set templates.review.label kind=review
mngr create judge -t review -- bash

# a type of your own, from any program
mngr config set agent_types.calculator.command "python3 -i -q"
mngr create sums calculator

# let a program of yours open the terminal, such as a new window of your editor
mngr create tab --connect-command 'echo "opening $MNGR_SESSION_NAME"' -- bash

# Agents with a budget of their own for processors and memory

##############################################################################
# WHAT THEY WORK ON
##############################################################################

# start from another branch, and name the new one yourself
mngr create hotfix --branch release:fix/crash -- bash

# a pattern for branches: * is the agent's name
mngr create docs --branch ':ada/*' -- bash

# bring along what you have not committed yet
mngr create careful --include-dirty -- bash

# a clone of its own instead of a worktree: what agents on other machines get, and it works here too
mngr create alone --transfer mirror -- bash

# no copy at all: right here, in your own checkout
mngr create here --transfer none -- bash

# a folder that is no git repository is copied
mngr create papers --from ~/papers --transfer copy -- bash

# work on another repository than this one
mngr create other --from ../other-project -- bash

# begin where another agent stands now
mngr create scout -- bash
mngr create second --from scout -- bash

# in a directory of your choice
mngr create "placed:$HOME/placed" -- bash

# prepare the working copy first; when this fails, nothing is left behind
mngr create ready --setup "cp config.example config" -- bash

# put files into its working copy that git does not know
mngr create briefed --upload plan.md:notes/plan.md -- bash

##############################################################################
# SEEING WHAT THEY DO
##############################################################################

# who is there, and what is each doing?
mngr list

# only those that are alive; only those of a label; only those whose name looks like this
mngr list --running
mngr list --label batch=7
mngr list --where 'name~test-*' --where 'state!=DONE'

# for programs: one JSON document
mngr list --json

# a line of your own for each
mngr list --format '{name}\t{state}\t{branch}'

# the newest two, and only these fields
mngr list --sort -created_at --limit 2 --fields name,state

# why does it say so? the evidence for each state, and how old it is
mngr list --explain

# which fields are there?
mngr list --schema

# the machines that agents are on
mngr list --hosts

# stay, and see changes as they come; who needs you is marked
mngr list --watch

# what is on its terminal now, and all that ever was
mngr capture fix-login
mngr capture fix-login --full

# what was said, and only its last answer
mngr transcript writer
mngr transcript writer --role agent --tail 1

# what happened to it, as lines for a program
mngr events writer --format jsonl

##############################################################################
# TALKING AND WAITING
##############################################################################

# sit down at its terminal; Ctrl-Q leaves it, and it goes on
mngr connect fix-login

# look over its shoulder without touching anything
mngr connect fix-login --read-only

# choose from a list
mngr connect

# go to one that was stopped
mngr connect fix-login --start

# tell it something; the receipt says whether it arrived
mngr message writer -m "now write the tests"

# what another program prints can be the message
git log --oneline | mngr message reviewer

# ask, wait until it has answered, and read the answer
mngr message writer -m "are you done?" --wait turn
mngr transcript writer --role agent --tail 1

# the same words to several
mngr message writer reviewer -m "the branch is frozen"

# a plain program gets it typed on its terminal
mngr message fix-login -m "touch was-here"

# start something and come back when it is done
mngr create build -- sh -c 'echo built > result.txt'
mngr wait build

# the first of several is enough
mngr wait slow quick --any --until done

# not for ever: exit code 124 says that the time was up
mngr wait writer --until done --timeout 1s

# until it has handed over a result
mngr create worker -- sh -c 'echo "{}" > "$MNGR_OUTBOX/result.json"; sleep 600'
mngr wait worker --until result

##############################################################################
# BRINGING WORK HOME
##############################################################################

# run a command where the agent works; its exit code is ours
mngr exec fix-login -- git status --short

# in several places at once
mngr exec left right -- git log -1 --format=%s

# hand it what comes on our own input
tar c notes | mngr exec fix-login -i -- tar x

# no longer than this
mngr exec fix-login --timeout 1s -- sleep 60

# what it has changed since it began, committed or not
mngr diff fix-login
mngr diff fix-login --stat

# its commits, as a branch of this repository; no file of yours is touched
mngr pull fix-login

# and merged into what you have checked out
mngr pull fix-login --merge

# only if nothing has to be merged
mngr pull fix-login --ff-only

# and your own commits put on top of them, as git pull --rebase does
mngr pull fix-login --rebase

# what it has not committed too
mngr pull fix-login --include-dirty

# files instead of commits
mngr pull fix-login --files 'build/*.log' --to logs

# what it put into its outbox, by agent
mngr pull left right --outbox --to results

# and the other way round: your new commits, or files, to the agent
mngr push fix-login
mngr push fix-login --files input.json

# Moving the work of one agent over to another one

##############################################################################
# STOPPING, KEEPING, REMOVING
##############################################################################

# end its processes, all of them, and keep its work; start it again later
mngr stop fix-login
mngr start fix-login

# go home: everything stops; come back: everything goes on
mngr stop --all
mngr start --all

# give it less time to end by itself
mngr stop stubborn --grace 1s

# another name; its branch and its directory stay
mngr rename fix-login login

# put labels on, and take them off
mngr label fix-login task=login owner=ada
mngr label fix-login --remove owner

# a second agent with the same work, uncommitted changes included, to try something else
mngr clone fix-login experiment

# keep its files as they are now, and go back to that
mngr snapshot create fix-login before
mngr snapshot list
mngr snapshot restore before

# the only agent, or the one of this directory, needs no name
mngr snapshot create my-snapshot

# start new agents from a snapshot
mngr snapshot create fix-login prepared
mngr create again --snapshot prepared -- bash

# a snapshot that is not needed any more
mngr snapshot destroy before --yes

# remove an agent with everything that is its own; a branch with commits that are nowhere else is kept
mngr destroy fix-login --yes

# what would go?
mngr destroy --stopped --label batch=7 --dry-run

# remove all of them
mngr destroy --all --yes

# Managing snapshots on another provider

##############################################################################
# MANY AT ONCE
##############################################################################

# a line of JSON for each agent
printf '{"name": "n%s", "args": ["sleep", "600"]}\n' 1 2 3 | mngr create -

# flags are defaults for all lines, and no more than two run at a time
printf '{"name": "n%s"}\n' 1 2 3 | mngr create - --max-running 2 --label batch=7 -- true

# commands hand agents on: all of a batch
mngr list --label batch=7 --format jsonl | mngr stop -

# a loop in one line: make, wait, collect, remove
printf '{"name": "n%s"}\n' 1 2 3 |
    mngr create - -- sh -c 'echo "$MNGR_AGENT_NAME" > "$MNGR_OUTBOX/name"' |
    mngr wait - | mngr pull - --outbox --to results | mngr destroy - --yes

# what you carry along comes out at the other end
printf '{"name": "n%s", "ticket": "T-%s"}\n' 1 100 2 200 | mngr create - -- true | mngr wait -

##############################################################################
# ON OTHER MACHINES
##############################################################################

# the same with one word more; faulty is a pretended machine, docker and ssh are real ones
mngr create far@.faulty -- sleep 600
mngr exec far -- git status --short
mngr pull far

# a machine with a name, and two agents on it
mngr create one@lab.faulty -- sleep 600
mngr create two@lab.faulty -- sleep 600
mngr list --host lab

# move an agent to another machine, with its work, its name and its labels, and back again
mngr migrate fix-login @.faulty
mngr migrate fix-login @local

# the machine itself: all its agents go with it
mngr destroy @lab.faulty --yes

# how would your scripts do on a bad line? a fifth of all calls break, always the same ones
mngr -S providers.faulty.drop=0.2 -S providers.faulty.seed=7 create brave@.faulty -- sleep 600 ||
    echo "it says $?"

# Agents in containers, each with an image of its own

# Agents on machines that ssh reaches

##############################################################################
# KEEPING HOUSE
##############################################################################

# what did it cost? by agent, and by day
mngr usage
mngr usage --by day --since 7d

# stop those that have had nothing to do for two hours; remove what is older than a week
mngr cleanup --idle-for 2h --stop --yes
mngr cleanup --older-than 7d --dry-run

# remove agents that ended, by label
mngr cleanup --stopped --label batch=7 --destroy --yes

# is anything left without an owner? then remove it
mngr gc --dry-run
mngr gc --yes

# every setting, and where it comes from
mngr config list

# set one for yourself, and for this repository
mngr config set prefix dev-
mngr config set --project commands.list.sort name

# ask for one, see which layer decides, and remove it again
mngr config get prefix
mngr config explain prefix
mngr config unset prefix

# just this once
mngr -S prefix=once- create brief -- sleep 600

# where are the files?
mngr config path --all

# edit the file itself; it is checked afterwards
mngr config edit

# a repository may name commands in its config; read them, then say that you trust them
mngr config trust

# what do plugins add?
mngr plugin list

# completion of commands, options and agents' names
eval "$(mngr completion bash)"

# note: the rest is about testing a command-line program of your own, in the way that mngr itself is tested

##############################################################################
# A TUTORIAL AND ITS TESTS
##############################################################################

# a tutorial is a script like this one; what is in it, and what is still a gap?
mngr tutorial blocks tutorial.sh
mngr tutorial gaps tutorial.sh --fail

# does every example have a test, and does every test cite an example?
mngr tutorial check tutorial.sh tests

# which tests does each example have?
mngr tutorial blocks tutorial.sh tests --tests

# let an agent draft examples for the gaps; see first what it would be told
mngr tutorial draft tutorial.sh --dry-run

# look at the drafts, keep one, reject another
mngr tutorial review tutorial.sh --list
mngr tutorial review tutorial.sh --keep all

# what did agents find hard to use?
mngr tutorial signals

# let agents write the tests that are missing; see first what they would be told
mngr tutorial sync tutorial.sh tests --dry-run

# the same from inside Claude Code, as a slash command
mngr tutorial install-command

# run the tests, and see what every command did
pytest -q tests
mngr e2e runs
mngr e2e view --html report.html

##############################################################################
# AN AGENT FOR EACH TEST
##############################################################################

# see the whole loop once, with agents that follow a script: about a minute, and everything stays in mngr-demo
mngr demo

# an agent for each test: what would that be?
mngr tmr plan tests

# do it: each agent gets a copy, what it changes is verified, and the good changes come back as one branch
mngr tmr run tests --name first --type scripted --arg playbook.json

# how did it go? everything on one page
mngr tmr status first
mngr tmr report first --html report.html

# which runs were there? verify one again, build its branch again, remove it
mngr tmr runs
mngr tmr verify first
mngr tmr integrate first
mngr tmr delete first --yes
