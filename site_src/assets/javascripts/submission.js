// Show a submission of a large collection, which is stored as data without a page, at its own
// address: the host answers requests for it with the page for missing addresses.
const root = new URL("../../", import.meta.url);

function asked() {
  const below = location.pathname.slice(root.pathname.length);
  return /^submissions\/([a-z0-9][a-z0-9._-]*)\/?$/.exec(below)?.[1];
}

async function show(name) {
  const own = new URL(`submissions/${name}/`, root);
  const reply = await fetch(new URL("page.json", own));
  if (!reply.ok) return;
  const { main: html } = await reply.json();
  const main = document.querySelector("article, main");
  main.innerHTML = html; // The site's templates wrote this HTML, with every text escaped.
  for (const link of main.querySelectorAll("a[href]")) {
    link.href = new URL(link.getAttribute("href"), own);
  }
  document.title = `${main.querySelector("h1").textContent} - Draftmap`;
}

const name = asked();
if (name) await show(name);
