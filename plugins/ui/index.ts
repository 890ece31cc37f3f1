import { type Gateway, type Plugin, stages } from 'guard-gateway/core'
import { pageKind, panelKind } from 'guard-gateway/lib/page'
import { currentPrincipal } from 'guard-gateway/lib/principal'
import { assetRoutes, loadAssets } from './assets.ts'
import { errorPage } from './error-page.ts'
import { formRoutes } from './forms.ts'
import { needsPanel } from './needs.ts'
import { nowPage } from './now.ts'
import { documentOf, pageRoutes } from './pages.ts'
import { searchPage } from './search.ts'
import { Shell } from './shell.ts'

export interface UiOptions {
  readonly version: string
}

/** Beyond loopback somebody may be told of an error before anybody knows who it is. */
const isStranger = (gateway: Gateway): boolean =>
  gateway.service('http').get()?.isBeyondLoopback === true && currentPrincipal() === undefined

/** The shell of all pages: navigation, assets, forms, errors and the start page. All other pages belong to features. */
export const ui = (options: UiOptions): Plugin => ({
  name: 'ui',
  requires: ['http'],
  apply(gateway: Gateway) {
    gateway.registry(pageKind).add(nowPage(gateway))
    gateway.registry(pageKind).add(searchPage(gateway))
    gateway.registry(panelKind).add(needsPanel(gateway))
    gateway.hooks.http.tapPromise({ name: 'ui', stage: stages.http.pages }, async (app) => {
      const assets = await loadAssets()
      const shell = new Shell(gateway, options, assets)
      gateway.service('documents').provide({
        error: (error, asked) => errorPage(shell, error, asked, isStranger(gateway)),
        bare: (view) => shell.bare(view),
        page: (page, ask) => documentOf(shell, page, ask),
      })
      await app.register(async (scope) => {
        assetRoutes(scope, assets)
        pageRoutes(scope, gateway, shell)
        formRoutes(scope, gateway, shell)
      })
    })
  },
})
