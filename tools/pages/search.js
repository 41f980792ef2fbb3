// What Node runs: the search of a page of results, without the page.
const fs = require("fs"), vm = require("vm"), [built, ...queries] = process.argv.slice(2);
const page = { getElementById: () => null, addEventListener() {}, documentElement: { dataset: {} } };
const here = { document: page, localStorage: { setItem() {} }, SPHINX_HIGHLIGHT_ENABLED: false, _ready() {}, _: String };
here.window = here;
vm.createContext(here);
const scripts = ["base-stemmer", "english-stemmer", "searchtools", "language_data"].map((name) => `_static/${name}.js`);
const text = [...scripts, "searchindex.js"].map((name) => fs.readFileSync(`${built}/${name}`, "utf8")).join("\n");
vm.runInContext(`${text}\nglobalThis.Search = Search;`, here);
const found = (query) => here.Search._performSearch(...here.Search._parseQuery(query)).reverse().map(([page]) => page);
console.log(JSON.stringify(Object.fromEntries(queries.map((query) => [query, [...new Set(found(query))]]))));
