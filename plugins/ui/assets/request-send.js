const TEXT = /^(?:text\/|application\/(?:[\w.-]+\+)?(?:json|yaml|xml|javascript)\b|application\/x-ndjson)/
const MAX_CHARS = 400_000
const MAX_BYTES = 64 * 2 ** 20
const HIDDEN = /[[\p{DI}\p{Cc}\p{Cs}\p{Zl}\p{Zp}]--[\t\n\u200c\u200d\ufe0e\ufe0f]]/gv

/** What no font draws is shown by its number. */
const visible = (text) =>
  text
    .replaceAll('\r\n', '\n')
    .replace(HIDDEN, (mark) => `U+${mark.codePointAt(0).toString(16).toUpperCase().padStart(4, '0')}`)

export const sizeText = (bytes) =>
  bytes < 1000 ? `${bytes} B` : bytes < 1e6 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`

export const timeText = (ms) => (ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`)

/** JSON with line breaks. Numbers keep all their digits; other text stays as it is. */
const indented = (text) => {
  if (!JSON.rawJSON) return text
  try {
    const exact = (_name, value, { source }) =>
      typeof value === 'number' && String(value) !== source ? JSON.rawJSON(source) : value
    return JSON.stringify(JSON.parse(text, /** @type {any} */ (exact)), null, 2)
  } catch {
    return text
  }
}

const fetchBody = (body) => {
  if (body?.type !== 'multipart/form-data') return body?.file ?? body?.text
  const form = new FormData()
  if (body.file) form.set('file', body.file)
  return form
}

/** Sends a request. No cookie, cache or redirect takes part. */
export const send = ({ method, path, headers, body }, signal) => {
  const fields = new Headers()
  for (const { name, prefix, value } of headers) if (value !== '') fields.set(name, prefix + value)
  if (body && body.type !== 'multipart/form-data') fields.set('content-type', body.type)
  return fetch(path, {
    method,
    headers: fields,
    body: fetchBody(body),
    signal,
    credentials: 'omit',
    cache: 'no-store',
    redirect: 'manual',
  })
}

/** Shows text up to a limit; of a stream, the newest. */
const displayIn = (output, isStream) => {
  let displayed = ''
  return {
    add(text) {
      displayed += text
      if (displayed.length > MAX_CHARS)
        displayed = isStream ? displayed.slice(-MAX_CHARS) : displayed.slice(0, MAX_CHARS)
      const isAtEnd = output.scrollTop + output.clientHeight >= output.scrollHeight - 4
      output.textContent = visible(displayed)
      if (isStream && isAtEnd) output.scrollTop = output.scrollHeight
    },
    end(bytes, isJson) {
      if (bytes > MAX_CHARS) this.add(isStream ? '' : '\n… the rest is in the download')
      else if (isJson) output.textContent = visible(indented(displayed))
    },
  }
}

/** Reads a response to its end, and shows text as it arrives. `progress` gets the bytes so far. Returns the body to download; undefined if it is too large to keep. Throws if the response breaks off. */
export const receive = async (response, output, progress) => {
  const type = response.headers.get('content-type') ?? ''
  const isText = TEXT.test(type)
  const displayed = displayIn(output, type.startsWith('text/event-stream'))
  const decoder = new TextDecoder()
  const chunks = []
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length
    if (bytes <= MAX_BYTES) chunks.push(chunk)
    else chunks.length = 0
    if (isText) displayed.add(decoder.decode(chunk, { stream: true }))
    progress(bytes)
  }
  if (isText) displayed.end(bytes, /\bjson\b/.test(type) && !type.includes('ndjson'))
  return bytes > MAX_BYTES ? undefined : new Blob(chunks, { type: 'application/octet-stream' })
}
