import { type Html, html } from 'guard-gateway/lib/html'
import type { View } from 'guard-gateway/lib/page'

/** A document of a heading and little more, which tells nothing of this gateway. It needs no script. */
export const bareDocument = (view: View, styles: readonly Html[], icon: string): Html => html`<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${view.title} · Guard</title>
${styles}
<link rel="icon" href="${icon}" type="image/svg+xml">
</head>
<body>
<header class="bar"><span class="mark">Guard</span></header>
<main id="main" tabindex="-1">
${view.main}
</main>
</body>
</html>`
