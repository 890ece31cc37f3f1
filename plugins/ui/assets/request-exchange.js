import { receive, send, sizeText, timeText } from './request-send.js'

const extensions = { json: 'json', csv: 'csv', 'event-stream': 'txt', yaml: 'yml', plain: 'txt', 'x-ndjson': 'jsonl' }

/** File name of a response: its own, or one by its media type. */
const fileName = ({ headers }) => {
  const [, own] = /filename="?([\w.-]+)/.exec(headers.get('content-disposition') ?? '') ?? []
  const [, subtype] = /\/(?:[\w.-]+\+)?([\w.-]+)/.exec(headers.get('content-type') ?? '') ?? []
  return own ?? `response.${extensions[subtype] ?? 'bin'}`
}

/** Offers a body as a file; takes back the file before. */
const offer = (link, blob, response) => {
  if (!link.hidden) URL.revokeObjectURL(link.href)
  link.hidden = !blob?.size
  if (link.hidden) return
  link.href = URL.createObjectURL(blob)
  link.download = fileName(response)
  link.textContent = `Download ${link.download} (${sizeText(blob.size)})`
}

const clear = ({ status, result, headers, output, download }) => {
  result.hidden = true
  headers.textContent = ''
  output.textContent = ''
  offer(download)
  status.className = ''
  status.textContent = 'Sent, waiting for the answer.'
}

const headLine = ({ status, statusText }) => `${status} ${statusText}`.trim()

/** Why there is no whole answer, in words. */
const failureText = ({ response, isStopped, spent, size, sent }) => {
  if (isStopped)
    return response
      ? `${headLine(response)} · stopped after ${spent}, ${size}`
      : `Stopped after ${spent}, before an answer.`
  if (response) return `${headLine(response)} · the answer broke off after ${spent}, ${size}.`
  const cause = sent.body ? ', or it closed the connection while the body was sent' : ''
  return `No answer from ${location.origin} after ${spent}. The gateway is not running or cannot be reached${cause}.`
}

/** Sends a request and shows the answer as it arrives. Never rejects: failures are shown too. */
export const exchange = async (sent, abort, view) => {
  const { status, result, headers, output, download } = view
  const begin = performance.now()
  const spent = () => timeText(performance.now() - begin)
  let size = 0
  let response
  clear(view)
  try {
    response = await send(sent, abort.signal)
    const head = headLine(response)
    status.className = response.ok ? 'ok' : 'error'
    headers.textContent = [...response.headers].map(([name, value]) => `${name}: ${value}`).join('\n')
    result.hidden = false
    const blob = await receive(response, output, (bytes) => {
      size = bytes
      status.textContent = `${head} · ${spent()} · ${sizeText(bytes)} so far`
    })
    status.textContent = `${head} · ${spent()} · ${size > 0 ? sizeText(size) : 'no body'}`
    offer(download, blob, response)
  } catch {
    status.className = 'error'
    const isStopped = abort.signal.aborted
    status.textContent = failureText({ response, isStopped, spent: spent(), size: sizeText(size), sent })
  }
}
