import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Gateway, GuardError, statusOf } from 'guard-gateway/core'
import { type FieldFault, type Form, formKind, pageKind } from 'guard-gateway/lib/page'
import { withNotice } from './notices.ts'
import { askOf, pathOf } from './page-request.ts'
import { sendPage } from './pages.ts'
import type { Shell } from './shell.ts'

const MAX_BYTES = 1_048_576
const MAX_FIELDS = 2_000

type Params = Readonly<Record<string, string>>

/** Takes every registered form: done, it leads elsewhere by 303; refused, its page comes back with what was typed, under an address that leads to the page itself when it is opened anew. */
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
      scope.post(form.path, { schema }, (request, reply) => take(gateway, shell, form, request, reply))
      scope.get(form.path, { schema }, ({ params }, reply) =>
        reply.redirect(fillPattern(form.page, params as Params), 303),
      )
    }
  })
}

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
    return sendPage(shell, page, reply, { ...askOf(gateway, request), url: back })
  }
  const target = returnTo(sent.location ?? null) ?? withRowAnchor(back, sent.at, form, params)
  return reply.redirect(withNotice(target, sent.notice, sent.about), 303)
}

/** Where a form leads when it is done: a path of this server as a header can carry it, or nothing. */
const returnTo = (given: string | null): string | undefined => {
  if (given === null || !/^\/(?![/\\])/.test(given) || /[^!-~]|\\/.test(given)) return undefined
  return given
}

/** A list with the row to be shown at; the page of the thing itself stays as it is. */
const withRowAnchor = (back: string, at: string | undefined, { page }: Form, params: Params): string => {
  const isItsOwn = page.includes(':') && pathOf(back) === fillPattern(page, params)
  return at === undefined || isItsOwn || back.includes('#') ? back : `${back}#${encodeURI(at)}`
}

/** A pattern with its parameters filled in. */
const fillPattern = (pattern: string, params: Params): string =>
  pattern.replaceAll(/:(\w+)/g, (_all, name: string) => encodeURIComponent(params[name] ?? ''))

/** What the form says; an error that names a field becomes that field's fault. */
const submit = async (form: Form, posted: Parameters<Form['submit']>[0]) => {
  try {
    return await form.submit(posted)
  } catch (error) {
    if (!(error instanceof GuardError) || statusOf(error) !== 400) throw error
    return { faults: [{ field: (error.place.path ?? '').replace(/^\//, ''), message: error.message }] }
  }
}

/** The form's page once more, as it was reached, with what was typed and what is wrong. */
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
  const ask = { ...askOf(gateway, request), query, url: back, refused: { form: form.id, fields, faults } }
  return sendPage(shell, page, reply, ask)
}
