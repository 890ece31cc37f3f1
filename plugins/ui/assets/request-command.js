/** Quotes a word for a shell. */
const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`
const word = (text) => (/^[\w@%+=:,./-]+$/.test(text) ? text : quoted(text))

/** Headers that are sent; a secret one always, because its command reads a variable. */
const sent = ({ headers }) => headers.filter(({ value, env }) => value !== '' || env === 'GUARD_KEY')

/** `showsKeys`: typed keys stand in the command themselves. */
const isHidden = ({ value, env }, showsKeys) => env !== undefined && !(showsKeys && value !== '')

/** A header as an option. A hidden one reads its variable, so the shell has to see it. */
const headerOption = (header, showsKeys) => {
  const { name, prefix, value, env } = header
  if (isHidden(header, showsKeys)) return `-H "${name}: ${prefix}$${env}"`
  return `-H ${quoted(`${name}: ${prefix}${value}`)}`
}

const bodyOptions = (body) => {
  if (!body) return []
  if (body.type === 'multipart/form-data') return [`-F ${quoted(`file=@${body.file.name}`)}`]
  const data = body.file ? `--data-binary ${quoted(`@${body.file.name}`)}` : `-d ${quoted(body.text)}`
  return [`-H 'content-type: ${body.type}'`, data]
}

const curl = (request, { keyCommand, showsKeys }) => {
  const { method, path, body } = request
  const option = method === 'GET' ? '' : method === 'HEAD' ? '-I ' : `-X ${method} `
  const headers = sent(request)
  const lines = [
    `curl ${option}"${location.origin}${path}"`,
    ...headers.map((header) => headerOption(header, showsKeys)),
    ...bodyOptions(body),
  ]
  const readsKey = headers.some((header) => header.env === 'GUARD_KEY' && isHidden(header, showsKeys))
  return (readsKey ? `GUARD_KEY="$(${keyCommand})"\n` : '') + lines.join(' \\\n  ')
}

const fetched = (request, { showsKeys }) => {
  const { method, path, body } = request
  const headers = sent(request).map((header) => {
    const { name, prefix, value, env } = header
    const text = isHidden(header, showsKeys)
      ? `\`${prefix}\${process.env.${env}}\``
      : JSON.stringify(`${prefix}${value}`)
    return `    ${JSON.stringify(name)}: ${text},`
  })
  const isForm = body?.type === 'multipart/form-data'
  if (body && !isForm) headers.push(`    "content-type": ${JSON.stringify(body.type)},`)
  const lines = [`  method: ${JSON.stringify(method)},`]
  if (headers.length > 0) lines.push('  headers: {', ...headers, '  },')
  if (body?.file) lines.push(`  body: ${isForm ? 'form' : 'file'},`)
  else if (body) lines.push(`  body: ${JSON.stringify(body.text)},`)
  const name = JSON.stringify(body?.file?.name ?? '')
  const before = body?.file
    ? `import { openAsBlob } from "node:fs"\nconst file = await openAsBlob(${name})\n${isForm ? `const form = new FormData()\nform.set("file", file, ${name})\n` : ''}`
    : ''
  return `${before}const answer = await fetch(${JSON.stringify(location.origin + path)}, {\n${lines.join('\n')}\n})\nconsole.log(answer.status, await answer.text())`
}

/** A member of a JSON body as text; undefined if it has none. */
const memberOf = (body, name) => {
  if (name === 'file') return body?.file?.name
  try {
    const value = JSON.parse(body.text)[name]
    return value === undefined || value === null ? undefined : String(value)
  } catch {
    return undefined
  }
}

const guard = ({ body }, { form, guardCommand }) => {
  const { command, args, flags } = guardCommand
  const textOf = (name) => form.querySelector(`[data-name="${CSS.escape(name)}"]`)?.value || memberOf(body, name)
  const words = args.map((name) => word(textOf(name) ?? `{${name}}`))
  for (const [name, { flag, isSwitch }] of Object.entries(flags)) {
    const value = textOf(name)
    if (value !== undefined && isSwitch && value === 'true') words.push(flag)
    else if (value !== undefined && !isSwitch) words.push(flag, word(value))
  }
  return [command, ...words].join(' ')
}

const kinds = { curl, fetch: fetched, guard }

/** A request as a command of a kind: `curl`, `fetch` or `guard`. */
export const commandOf = (kind, request, context) => kinds[kind](request, context)
