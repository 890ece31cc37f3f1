import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Gateway, GuardError, statusOf } from 'guard-gateway/core'
import { type FieldFault, type Form, formKind, pageKind } from 'guard-gateway/lib/page'
import { withNotice } from './notices.ts'
import { pageRequest, pathOf } from './page-request.ts'
import { sendPage } from './pages.ts'
import type { Shell } from './shell.ts'

const MAX_BYTES = 1_048_576
const MAX_FIELDS = 2_000

type Params = Readonly<Record<string, string>>

/** Handles posts of all registered forms. Success redirects with 303. A rejected form renders its page again with the typed values, under an address that also works for GET. */
export const formRoutes = (app: FastifyInstance, gateway: Gateway, shell: Shell): void => {
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser(
      'application/x-www-form-urlencoded',
      { parseAs: 'string', bodyLimit: MAX_BYTES },
      (_request, body, done) => {
        const fields = new URLSearchParams(String(body))
        if (fields.size > MAX_FIELDS) done(new GuardError('BODY_TOO_LARGE'))
        else done(null, fields)
      },
    )
    for (const form of gateway.registry(formKind)) {
      const schema = { hide: true } as object
      scope.post(form.path, { schema, config: configOf(form) }, (request, reply) =>
        take(gateway, shell, form, request, reply),
      )
      scope.get(form.path, { schema }, ({ params }, reply) =>
        reply.redirect(fillPattern(form.page, params as Params), 303),
      )
    }
  })
}

const configOf = ({ scope }: Form) => (scope === undefined ? {} : { scope })

const take = async (
  gateway: Gateway,
  shell: Shell,
  form: Form,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> => {
  const fields = request.body instanceof URLSearchParams ? request.body : new URLSearchParams()
  const params = request.params as Params
  const back = returnTo(fields.get('return_to')) ?? fillPattern(form.page, params)
  const sent = await submit(form, { params, fields, now: gateway.clock.now() })
  if ('faults' in sent) return rerenderForm(gateway, shell, form, request, reply, back, fields, sent.faults)
  if ('view' in sent) {
    const page = { id: form.id, path: form.page, render: async () => sent.view }
    return sendPage(shell, page, reply, { ...pageRequest(gateway, request), url: back })
  }
  const target = returnTo(sent.location ?? null) ?? withRowAnchor(back, sent.at, form, params)
  return reply.redirect(withNotice(target, sent.notice, sent.about), 303)
}

/** Redirect target after success: a path of this server that is valid in a header, or undefined. */
const returnTo = (given: string | null): string | undefined => {
  if (given === null || !/^\/(?![/\\])/.test(given) || /[^!-~]|\\/.test(given)) return undefined
  return given
}

/** Adds a row anchor to a list; the page of the item itself needs none. */
const withRowAnchor = (back: string, at: string | undefined, { page }: Form, params: Params): string => {
  const isSamePage = page.includes(':') && pathOf(back) === fillPattern(page, params)
  return at === undefined || isSamePage || back.includes('#') ? back : `${back}#${encodeURI(at)}`
}

/** Fills the parameters of a path pattern. */
const fillPattern = (pattern: string, params: Params): string =>
  pattern.replaceAll(/:(\w+)/g, (_all, name: string) => encodeURIComponent(params[name] ?? ''))

/** Submits the form. An error that names a field becomes a field error. */
const submit = async (form: Form, posted: Parameters<Form['submit']>[0]) => {
  try {
    return await form.submit(posted)
  } catch (error) {
    if (!(error instanceof GuardError) || statusOf(error) !== 400) throw error
    return { faults: [{ field: (error.place.path ?? '').replace(/^\//, ''), message: error.message }] }
  }
}

/** Renders the page of a form again, with the typed values and the errors. */
const rerenderForm = (
  gateway: Gateway,
  shell: Shell,
  form: Form,
  request: FastifyRequest,
  reply: FastifyReply,
  back: string,
  fields: URLSearchParams,
  faults: readonly FieldFault[],
): Promise<FastifyReply> => {
  const page = [...gateway.registry(pageKind)].find(({ path }) => path === form.page)
  if (page === undefined) throw new GuardError('NOT_FOUND')
  const query = new URLSearchParams(back.split('?', 2)[1] ?? '')
  const ask = { ...pageRequest(gateway, request), query, url: back, refused: { form: form.id, fields, faults } }
  return sendPage(shell, page, reply, ask)
}
