import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Gateway, GuardError, statusOf } from 'guard-gateway/core'
import { writeJson } from '#lib/json'
import { pageKind } from '#lib/page'
import { acceptForms, FileForm, readFileForm } from './form.ts'
import type { ImportAnswer } from './import.ts'
import type { Imports } from './imports.ts'

/** Default redirect target, and the page of the form. */
const PAGE = '/replay'
const FORM_PAGE = '/replay/import'
const PATH = '/ui/runs/import'

/** Import form of a page. It redirects with 303, or returns JSON to programs. */
export const importForm = (gateway: Gateway, imports: Imports) => async (app: FastifyInstance) => {
  app.removeAllContentTypeParsers()
  await acceptForms(app, imports.max_bytes)
  const schema = { hide: true } as object
  app.get(PATH, { schema }, (_request, reply) => reply.redirect(FORM_PAGE, 303))
  app.post(PATH, { schema }, async (request, reply) => {
    if (!request.isMultipart()) throw new GuardError('UNSUPPORTED_MEDIA_TYPE', 'Send the form as multipart/form-data.')
    const form = new FileForm()
    const answer = wantsPage(request) ? answerPage : answerProgram
    return answer(gateway, form, () => taken(imports, form, request, reply), reply)
  })
}

const taken = async (imports: Imports, form: FileForm, request: FastifyRequest, reply: FastifyReply) => {
  const file = await readFileForm(request, form, imports.max_bytes)
  const { return_to: _return_to, ...asked } = form.fields
  return imports.take(file, asked, reply)
}

type RunImport = () => Promise<ImportAnswer>

const answerProgram = async (_gateway: Gateway, _form: FileForm, take: RunImport, reply: FastifyReply) =>
  reply.type('application/json; charset=utf-8').send(writeJson(await take()))

/** Redirects, or renders the form again. */
const answerPage = async (gateway: Gateway, form: FileForm, take: RunImport, reply: FastifyReply) => {
  try {
    const answer = await take()
    return reply.redirect(targetOf(form.fields.return_to, answer), 303)
  } catch (error) {
    const again = await rerenderForm(gateway, form, error, reply.request)
    if (again === undefined) throw error
    return reply.code(again.status).type('text/html; charset=utf-8').send(again.text)
  }
}

/** Renders the page with the typed values and errors; undefined for server errors, or without pages. */
const rerenderForm = async (
  gateway: Gateway,
  { fields, file_name }: FileForm,
  error: unknown,
  { protocol, host }: FastifyRequest,
) => {
  const { clock } = gateway
  const page = gateway.registry(pageKind).get('replay/import')
  if (!(error instanceof GuardError) || statusOf(error) >= 500 || page === undefined) return undefined
  const typed = new URLSearchParams({ ...fields, file_name })
  const { path = '', line } = error.place
  const field = ['on_conflict', 'project_id'].find((name) => path === `/${name}`) ?? 'file'
  if (field === 'file' && line !== undefined) typed.set('line', String(line))
  if (field === 'file' && path !== '/file') typed.set('path', path)
  return gateway
    .service('documents')
    .get()
    ?.page(page, {
      params: {},
      query: new URLSearchParams(),
      url: FORM_PAGE,
      origin: `${protocol}://${host}`,
      now: clock.now(),
      refused: { form: 'replay/import', fields: typed, faults: [{ field, message: error.message }] },
    })
}

/** Browsers accept HTML, programs do not. */
const wantsPage = ({ headers }: FastifyRequest): boolean => headers.accept?.includes('text/html') === true

/** A local path with the notice code. */
const targetOf = (return_to: string | undefined, { imported }: ImportAnswer): string => {
  const safe = return_to !== undefined && /^\/(?![/\\])[^\u0000-\u0020\u007f\\]*$/.test(return_to)
  const [rest = '', fragment] = (safe ? return_to : PAGE).split('#', 2)
  const [path, search] = rest.split('?', 2)
  const query = new URLSearchParams(search)
  query.set('notice', imported.length > 0 ? 'runs-imported' : 'runs-skipped')
  return `${path}?${query}${fragment === undefined ? '' : `#${fragment}`}`
}
