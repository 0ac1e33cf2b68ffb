// Runs inside OpenCode and is mngr's line to it: events out, messages in, each as a file in the agent's directory.
import { Database } from "bun:sqlite"
import fs from "node:fs"
import path from "node:path"

const STATE = process.env.MNGR_AGENT_STATE_DIR ?? ""
const HOST = process.env.MNGR_HOST_DIR ?? ""
const HOME = path.join(STATE, "opencode")
const DATABASE = path.join(HOME, "data/opencode/opencode.db")
const TEXT_LIMIT = 64 * 1024
const EVIDENCE_MS = 30000
const LOOK_MS = 1000
const ABORTED = "MessageAbortedError"
const JSON_HEADERS = { "content-type": "application/json" }

// Bun forgets a watch that is not referenced.
const held = []

const now = () => Date.now() / 1000
const own = (...names) => path.join(HOME, ...names)

function put(file, text) {
  fs.writeFileSync(`${file}.new`, text, { mode: 0o600 })
  fs.renameSync(`${file}.new`, file)
}

function append(file, value) {
  fs.appendFileSync(file, JSON.stringify(value) + "\n", { mode: 0o600 })
}

function say(kind, data = {}) {
  append(path.join(STATE, "events.jsonl"), { at: now(), kind, data })
  put(path.join(HOST, "bell"), `${process.pid} ${now()}\n`)
}

function read(file) {
  try {
    return fs.readFileSync(file, "utf8")
  } catch {
    return ""
  }
}

// A line that a crash tore would swallow the next one.
function repair(file) {
  if (read(file).match(/[^\n]$/)) fs.appendFileSync(file, "\n")
}

function empty(folder) {
  for (const name of fs.readdirSync(folder)) fs.rmSync(path.join(folder, name), { force: true })
}

// Everything that is remembered of the conversations of this process.
class Watch {
  session = read(own("session")).trim()
  helpers = new Set()
  busy = new Set()
  roles = new Map()
  recorded = new Set()
  ending = {}
  expected = {}

  hear(event) {
    const hear = this[event.type]
    if (hear) hear.call(this, event.properties)
  }

  submitted(session, message, parts) {
    if (this.helpers.has(session)) return
    this.session = session
    put(own("session"), `${session}\n`)
    const texts = parts.filter((part) => part.type === "text" && !part.synthetic).map((part) => part.text)
    const text = texts.join("\n")
    this.record(message.id, { type: "turn", role: "user", text, session })
    this.busy.add(session)
    this.ending = {}
    say("prompt_submitted", { message: message.id })
    if (this.expected.session === session && this.expected.text === text) this.expected.settle({ ok: true })
  }

  // What becomes of a text that is handed over: it is in the conversation, or there was an error instead.
  expect(session, text, isBusy) {
    return new Promise((settle) => {
      this.expected = { session, text, isBusy, settle }
      setTimeout(settle, EVIDENCE_MS, { silent: true })
    })
  }

  record(key, entry) {
    if (this.recorded.has(key)) return
    this.recorded.add(key)
    append(own("record.jsonl"), { ...entry, at: now() })
  }

  ended(session) {
    if (session !== this.session || !this.busy.delete(session)) return
    say("turn_ended", this.ending)
  }

  asked(reason, tool, request) {
    put(own("asked", `${request.id}.json`), JSON.stringify(request))
    say("needs_input", { reason, tool })
  }

  answered(request) {
    fs.rmSync(own("asked", `${request.requestID}.json`), { force: true })
    if (this.busy.size) say("resumed")
  }

  "session.created"({ info }) {
    if (info.parentID) this.helpers.add(info.id)
  }

  "session.status"({ sessionID, status }) {
    if (this.helpers.has(sessionID)) return
    if (status.type === "retry") say("api_error", { error: String(status.message).slice(0, 300) })
    if (status.type === "idle") this.ended(sessionID)
  }

  "session.error"({ sessionID, error }) {
    if (this.helpers.has(sessionID)) return
    if (error?.name === ABORTED) return this.interrupted(sessionID)
    const text = String(error?.data?.message ?? error?.name).split("\n")[0].slice(0, 300)
    say("api_error", { error: text, status: error?.data?.statusCode })
    this.broken(sessionID, "api_error", `failed: ${text}`)
    // That of a busy one may be about the turn that it is in.
    if (this.expected.session === sessionID && !this.expected.isBusy) this.expected.settle({ error: text })
  }

  // Told by an error of the session and by one of its message, by one or both, before or after its end.
  interrupted(session) {
    if (session !== this.session || this.ending.reason === "interrupted") return
    this.broken(session, "interrupted", "was interrupted")
    if (!this.busy.has(session)) say("turn_ended", this.ending)
  }

  broken(session, reason, text) {
    this.ending = { reason }
    append(own("record.jsonl"), { type: "turn", role: "tool", text: `(the turn ${text})`, session, at: now() })
  }

  "permission.asked"(request) {
    this.asked("permission", request.permission, request)
  }

  "question.asked"(request) {
    this.asked("input", "question", request)
  }

  "permission.replied"(request) {
    this.answered(request)
  }

  "question.replied"(request) {
    this.answered(request)
  }

  "question.rejected"(request) {
    this.answered(request)
  }

  "message.updated"({ info }) {
    this.roles.set(info.id, info)
    if (info.error?.name === ABORTED) this.interrupted(info.sessionID)
  }

  "message.part.updated"({ part }) {
    const info = this.roles.get(part.messageID)
    if (info?.role !== "assistant") return
    if (part.type === "text" && part.time?.end && part.text) {
      this.record(part.id, { type: "turn", role: "agent", text: part.text, session: part.sessionID })
    }
    if (part.type === "tool" && part.state.status === "completed") this.tool(part, part.state.output)
    if (part.type === "tool" && part.state.status === "error") this.tool(part, part.state.error)
    if (part.type === "step-finish") {
      const { modelID: model, providerID: provider } = info
      this.record(part.id, { type: "spending", id: part.id, model, provider, tokens: part.tokens, cost: part.cost })
    }
  }

  tool(part, output) {
    const entry = { type: "turn", role: "tool", session: part.sessionID }
    const told = part.state.input?.command ?? JSON.stringify(part.state.input)
    this.record(`${part.id} asked`, { ...entry, text: `${part.tool}: ${told}`.slice(0, TEXT_LIMIT) })
    this.record(`${part.id} told`, { ...entry, text: String(output).slice(0, TEXT_LIMIT) })
  }
}

// What mngr asks for, one file each; the answer is a file of the same name.
class Desk {
  constructor(client, watch) {
    this.client = client
    this.watch = watch
    this.working = Promise.resolve()
  }

  look() {
    this.working = this.working.then(() => this.drain()).catch(() => {})
  }

  async drain() {
    const names = fs.readdirSync(own("in")).filter((name) => name.endsWith(".json"))
    for (const name of names.sort()) {
      try {
        // Renaming it claims it: mngr takes back in the same way what was not claimed.
        fs.renameSync(own("in", name), own("taken", name))
      } catch {
        continue
      }
      const request = JSON.parse(read(own("taken", name)))
      const answer = await this[request.op](request).catch((error) => ({ error: String(error) }))
      put(own("answer", name), JSON.stringify(answer))
      fs.rmSync(own("taken", name), { force: true })
    }
  }

  async prompt({ text, ...rest }) {
    const session = await this.current()
    const isBusy = this.watch.busy.has(session)
    const body = { parts: [{ type: "text", text }], ...rest.options }
    const told = this.watch.expect(session, text, isBusy)
    const done = await this.client.session.promptAsync({ path: { id: session }, body })
    return { ...(done.error ? result(done) : await told), busy: isBusy }
  }

  async current() {
    const known = this.watch.session
    if (known && !(await this.client.session.get({ path: { id: known } })).error) return known
    const made = await this.client.session.create({ body: {} })
    this.watch.session = made.data.id
    await this.post("/tui/select-session", { sessionID: made.data.id })
    return made.data.id
  }

  async permission({ id, reply }) {
    return result(await this.post(`/permission/${id}/reply`, { reply }))
  }

  async question({ id, answers }) {
    return result(await this.post(`/question/${id}/reply`, { answers }))
  }

  async copy({ to }) {
    const database = new Database(DATABASE, { readonly: true })
    try {
      database.run("VACUUM INTO ?", [to])
    } finally {
      database.close()
    }
    return { ok: true }
  }

  post(url, body) {
    return this.client._client.post({ url, body, headers: JSON_HEADERS })
  }
}

function result(done) {
  if (!done.error) return { ok: true }
  const error = done.error
  return { error: String(error?.data?.message ?? error?.message ?? JSON.stringify(error)).slice(0, 1000) }
}

// Programs that the agent runs look for their settings where they always do, not in the agent's home.
function usualPlaces(env) {
  for (const name of ["CONFIG", "DATA", "STATE", "CACHE"]) {
    env[`XDG_${name}_HOME`] = process.env[`MNGR_USUAL_${name}`] ?? ""
  }
}

// A conversation that was copied is about the files of the agent that it came from; here it is about ours.
function comeHome(directory) {
  if (!fs.existsSync(DATABASE)) return
  const database = new Database(DATABASE)
  try {
    database.run("PRAGMA busy_timeout = 5000")
    database.run("UPDATE session SET directory = ? WHERE directory <> ?", [directory, directory])
  } finally {
    database.close()
  }
}

// OpenCode makes an instance of this for every directory that a conversation is about; they share what they know.
function begin() {
  if (fs.existsSync(own("record.jsonl.copied"))) comeHome(process.cwd())
  repair(own("record.jsonl"))
  for (const folder of ["in", "taken", "answer", "asked"]) empty(own(folder))
  return new Watch()
}

export const Mngr = async ({ client }) => {
  if (!STATE) return {}
  const watch = (globalThis.mngrWatch ??= begin())
  const desk = new Desk(client, watch)
  held.push(fs.watch(own("in"), () => desk.look()), setInterval(() => desk.look(), LOOK_MS))
  put(own("ready"), `${process.pid} ${STATE}\n`)
  return {
    event: async ({ event }) => {
      watch.hear(event)
      if (!event.type.endsWith(".delta")) desk.look()
    },
    "chat.message": async ({ sessionID }, { message, parts }) => watch.submitted(sessionID, message, parts),
    "shell.env": async (_, output) => usualPlaces(output.env),
  }
}
