import type { FastifyInstance, FastifyReply } from 'fastify'
import type { Gateway } from 'guard-gateway/core'
import type { Html } from 'guard-gateway/lib/html'
import { type Ask, type Page, pageKind } from 'guard-gateway/lib/page'
import { noticeOf } from './notices.ts'
import { pageRequest, pathOf } from './page-request.ts'
import type { Shell } from './shell.ts'

/** `HEAD /` is no page, because agents probe the gateway with it. */
const routeOptions = ({ id, path, scope }: Page) => ({
  config: scope === undefined ? {} : { scope },
  schema: { summary: `Page: ${id}`, hide: true } as object,
  ...(path === '/' ? { exposeHeadRoute: false } : {}),
})

/** Serves every registered page. A trailing slash redirects. */
export const pageRoutes = (app: FastifyInstance, gateway: Gateway, shell: Shell): void => {
  for (const page of gateway.registry(pageKind)) {
    if (page.path !== '/')
      app.get(`${page.path}/`, routeOptions(page), (request, reply) =>
        reply.redirect(request.url.replace(/\/(?=\?|$)/, ''), 308),
      )
    app.get(page.path, routeOptions(page), async (request, reply) =>
      sendPage(shell, page, reply, pageRequest(gateway, request), await noticeOf(gateway, request.url)),
    )
  }
}

/** Renders a page as a document; 422 if it contains a rejected form. */
export const documentOf = async (
  shell: Shell,
  page: Page,
  ask: Ask,
  notice?: Html | string,
): Promise<{ readonly status: number; readonly text: string; readonly location: string | undefined }> => {
  const [view, counts, mode] = await Promise.all([page.render(ask), shell.count(), shell.mode()])
  const status = view.status ?? (ask.refused === undefined ? 200 : 422)
  return { status, text: shell.document(view, pathOf(ask.url), { notice, counts, mode }), location: view.location }
}

export const sendPage = async (
  shell: Shell,
  page: Page,
  reply: FastifyReply,
  ask: Ask,
  notice?: Html | string,
): Promise<FastifyReply> => {
  const { status, text, location } = await documentOf(shell, page, ask, notice)
  if (location !== undefined) return reply.redirect(location, 303)
  return reply.code(status).type('text/html; charset=utf-8').send(text)
}
