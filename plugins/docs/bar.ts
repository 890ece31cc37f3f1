import { type Gateway, writeJson } from 'guard-gateway/core'

/** What the viewer's page looks like beside the viewer's own styles: our bar in the place of its own, and less room for nothing. */
export const barStyle = `
body { background: light-dark(#fff, #1c2022); }
html { color-scheme: light; }
html.dark-mode { color-scheme: dark; }
.swagger-ui .topbar, .swagger-ui .scheme-container .servers-title, .swagger-ui .servers { display: none; }
.swagger-ui .wrapper { max-width: none; padding: 0 16px; }
.swagger-ui .info { margin: 16px 0 8px; }
.swagger-ui .info .title { font-size: 20px; overflow-wrap: anywhere; }
.swagger-ui .scheme-container { padding: 8px 0; margin: 0; box-shadow: none; background: none; }
.swagger-ui .opblock-tag { font-size: 16px; padding: 4px 8px; flex-wrap: wrap; }
.swagger-ui .opblock { margin: 0 0 4px; box-shadow: none; }
.swagger-ui .opblock .opblock-summary-path { max-width: none; overflow-wrap: anywhere; }
.swagger-ui .opblock .opblock-summary-description { min-width: 0; }
.guard-bar { display: flex; flex-wrap: wrap; gap: 0 20px; align-items: center; padding: 0 16px; min-height: 40px;
  font: 14px / 20px system-ui, sans-serif; border-bottom: 1px solid light-dark(#d9dce0, #363b42); }
.guard-bar a { padding: 8px 10px; color: light-dark(#1c1f23, #e4e6e9); text-decoration: none; }
.guard-bar > a { padding-left: 0; font-weight: 700; }
.guard-bar nav { display: flex; flex-wrap: wrap; }
.guard-bar [aria-current] { color: light-dark(#1a56c4, #84aefc); box-shadow: inset 0 -2px currentColor; }
.guard-bar a:hover { text-decoration: underline; }
@media (max-width: 640px) {
  .swagger-ui .opblock .opblock-summary-description { display: none; }
  .swagger-ui .opblock-body { overflow-x: auto; }
  .swagger-ui .opblock-body table, .swagger-ui .opblock-body tbody { display: block; overflow-x: auto; }
}
`

/** Puts the navigation that all pages have above the viewer. */
export const barScript = ({ pages }: Gateway): string => {
  const entries = [...pages]
    .filter(({ nav }) => nav !== undefined)
    .sort((a, b) => (a.nav?.order ?? 0) - (b.nav?.order ?? 0))
    .map(({ path, nav }) => [path, nav?.label ?? path])
  return `
const link = ([path, label]) => {
  const element = document.createElement('a')
  element.href = path
  element.textContent = label
  if (path === '/docs') element.setAttribute('aria-current', 'page')
  return element
}
const nav = document.createElement('nav')
nav.setAttribute('aria-label', 'Pages')
nav.append(...${writeJson(entries)}.map(link))
const bar = document.createElement('header')
bar.className = 'guard-bar'
bar.append(link(['/replay', 'Guard']), nav)
document.body.prepend(bar)
`
}
