/** Marks that a shell or a URL parser could read otherwise are encoded too. */
const encoded = (text) =>
  encodeURIComponent(text).replace(/[!'()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`)

/** The filled-in fields of a parameter location. */
const filled = (form, location) =>
  [...form.querySelectorAll(`[data-in="${location}"]`)].filter(({ value }) => value !== '')

/** Path and query. A path parameter without a value stays in braces. */
const pathOf = (form) => {
  let path = form.dataset.path
  for (const { dataset, value } of filled(form, 'path')) path = path.replace(`{${dataset.name}}`, () => encoded(value))
  const query = filled(form, 'query').map(({ dataset, value }) => `${encoded(dataset.name)}=${encoded(value)}`)
  return query.length > 0 ? `${path}?${query.join('&')}` : path
}

/** Header fields. One with `env` is secret, and named by this environment variable in commands. */
const headersOf = (form) => {
  const headers = filled(form, 'header').map(({ dataset, value }) => ({
    name: dataset.name,
    prefix: '',
    value,
    env: dataset.env,
  }))
  const key = form.querySelector('[data-key-field]')
  if (key) headers.unshift({ name: 'authorization', prefix: 'Bearer ', value: key.value, env: key.dataset.env })
  return headers
}

/** The body in the chosen media type: text, or a file; undefined if there is none. */
const bodyOf = (form) => {
  const part = form.querySelector('[data-body]:not([hidden])')
  if (!part) return undefined
  const type = part.dataset.body
  const file = part.querySelector('[type="file"]')?.files[0]
  if (file) return { type, file }
  const text = part.querySelector('textarea')?.value ?? ''
  return text.trim() === '' ? undefined : { type, text }
}

/** The request that a form describes. */
export const requestOf = (form) => ({
  method: form.dataset.method,
  path: pathOf(form),
  headers: headersOf(form),
  body: bodyOf(form),
})
