/* A table that does not fit is shown row by row: each cell below the name of its column. */
(() => {
  const tables = () => [...document.querySelectorAll("article.bd-article table")];

  function nameCells(table) {
    const heads = [...table.querySelectorAll("thead tr:last-child th")].map((cell) => cell.textContent.trim());
    for (const row of table.querySelectorAll("tbody tr")) {
      [...row.cells].forEach((cell, index) => { cell.dataset.column = heads[index] ?? ""; });
    }
  }

  function fit() {
    for (const table of tables()) {
      table.classList.remove("by-row");
      const room = table.closest(".pst-scrollable-table-container") ?? table.parentElement;
      table.classList.toggle("by-row", table.scrollWidth > room.clientWidth + 1);
    }
  }

  document.addEventListener("DOMContentLoaded", () => {
    tables().forEach(nameCells);
    fit();
    let width = window.innerWidth;
    window.addEventListener("resize", () => {
      if (window.innerWidth !== width) { width = window.innerWidth; fit(); }
    });
  });
})();
