"use strict";
// Sorts tables by the column whose head is pressed, leaves out rows without the words of a field, and leads to diagrams.
{
  const numeric = cell => {
    const found = cell.match(/-?\+?[\d.]+(e-?\d+)?/);
    return found ? Number(found[0]) : -Infinity; // what has no figure comes last among the largest first
  };
  const button = (cell, press) => {
    const made = document.createElement("button");
    made.type = "button";
    made.append(...cell.childNodes);
    made.addEventListener("click", press);
    cell.append(made);
  };
  for (const table of document.querySelectorAll("table.sortable")) {
    const body = table.tBodies[0], heads = [...table.tHead.rows[0].cells], rows = [...body.rows];
    const text = (row, column) => row.cells[column].textContent;
    heads.forEach((head, column) => button(head, () => {
      const words = rows.every(row => !/^[\[<=\s]*[-+]?[\d.]/.test(text(row, column)) && text(row, column) !== "–");
      const downward = head.getAttribute("aria-sort") ? head.getAttribute("aria-sort") === "ascending" : !words;
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", downward ? "descending" : "ascending");
      const order = words ? (a, b) => text(a, column).localeCompare(text(b, column), undefined, {numeric: true})
        : (a, b) => numeric(text(a, column)) - numeric(text(b, column));
      body.append(...rows.sort((a, b) => downward ? -order(a, b) : order(a, b)));
    }));
    if (rows.length > 12) {
      const label = document.createElement("label"), field = document.createElement("input");
      field.type = "search";
      label.append("Show rows with ", field);
      field.addEventListener("input", () => {
        const wanted = field.value.toLowerCase();
        const isWord = (cell, place) => !place || !/^[-+\[<]?[\d.]/.test(cell);
        const words = row => [...row.cells].map(cell => cell.textContent).filter(isWord).join(" ");
        for (const row of rows) row.hidden = !words(row).toLowerCase().includes(wanted);
      });
      table.parentElement.before(label);
    }
    for (const row of rows) {
      const figure = row.dataset.figure && document.getElementById(row.dataset.figure);
      if (!figure) continue;
      button(row.cells[0]); // what is pressed there, the row hears
      row.addEventListener("click", () => {
        figure.closest("details").open = true;
        figure.focus();
        figure.scrollIntoView({block: "center"});
      });
    }
  }
}
