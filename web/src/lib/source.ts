import type { Detail, Index, Patch } from "./records";

/** Where the page's data comes from: its own elements, or the server while tests run. */
export interface Source {
  readonly isLive: boolean;
  index(): Promise<Index>;
  detail(chunk: string): Promise<Detail>;
  cast(chunk: string): Promise<string>;
  patch(chunk: string): Promise<Patch>;
  /** The next reading of these chunks is a fresh one. */
  forget(chunks: readonly string[]): void;
}

const CACHED_CHARACTERS = 32_000_000;

export function openSource(page: Document): Source {
  const isLive = page.querySelector('meta[name="mngr-live"]') !== null;
  const load = isLive ? fetched : embedded(page);
  const cache = new Cache(load, CACHED_CHARACTERS);
  return {
    isLive,
    index: async () => JSON.parse(await load("index")) as Index,
    detail: async (chunk) => JSON.parse(await cache.get(chunk)) as Detail,
    cast: async (chunk) => JSON.parse(await cache.get(chunk)) as string,
    patch: async (chunk) => JSON.parse(await cache.get(chunk)) as Patch,
    forget: (chunks) => cache.forget(chunks),
  };
}

type Load = (chunk: string) => Promise<string>;

async function fetched(chunk: string): Promise<string> {
  const response = await fetch(`data/${chunk}`, { cache: "no-store" }).catch(() => {
    throw new Error("the server does not answer");
  });
  if (!response.ok) throw new Error(`the server answered ${response.status} for ${chunk}`);
  return response.text();
}

function embedded(page: Document): Load {
  const elements = new Map<string, Element>();
  for (const element of page.querySelectorAll("script[data-chunk]")) {
    elements.set(element.getAttribute("data-chunk") ?? "", element);
  }
  return async (chunk) => {
    const element = elements.get(chunk);
    if (!element) throw new Error(`this page has no data named ${chunk}`);
    return unpacked(element.textContent ?? "");
  };
}

async function unpacked(base64: string): Promise<string> {
  const gzip = new DecompressionStream("gzip");
  const packed = gzip.writable.getWriter();
  const written = packed.write(bytes(base64)).then(() => packed.close());
  const [text] = await Promise.all([new Response(gzip.readable).text(), written]);
  return text;
}

/** Newer browsers decode by themselves, three times as fast. */
const fromBase64 = (Uint8Array as { fromBase64?: (text: string) => Uint8Array<ArrayBuffer> }).fromBase64;

function bytes(base64: string): Uint8Array<ArrayBuffer> {
  if (fromBase64) return fromBase64.call(Uint8Array, base64);
  const binary = atob(base64.trim());
  const found = new Uint8Array(binary.length);
  for (let at = 0; at < binary.length; at++) found[at] = binary.charCodeAt(at);
  return found;
}

/** Texts that were read, the least recently used leaving first. */
class Cache {
  private readonly texts = new Map<string, string>();
  private size = 0;
  private forgotten = 0;

  constructor(
    private readonly load: Load,
    private readonly limit: number,
  ) {}

  async get(chunk: string): Promise<string> {
    const { forgotten } = this;
    const text = this.texts.get(chunk) ?? (await this.load(chunk));
    // What was asked for before something was forgotten may be the old text of just that.
    if (forgotten !== this.forgotten) return text;
    this.delete(chunk);
    this.texts.set(chunk, text);
    this.size += text.length;
    for (const oldest of this.texts.keys()) {
      if (this.size <= this.limit || oldest === chunk) break;
      this.delete(oldest);
    }
    return text;
  }

  forget(chunks: readonly string[]): void {
    this.forgotten++;
    for (const chunk of chunks) this.delete(chunk);
  }

  private delete(chunk: string): void {
    this.size -= this.texts.get(chunk)?.length ?? 0;
    this.texts.delete(chunk);
  }
}
