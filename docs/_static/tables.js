/* A table that does not fit is shown row by row: each cell after the name of its column. */
(() => {
  const tables = () => [...document.querySelectorAll("article.bd-article table")];

  function nameCells(table) {
    const heads = [...table.querySelectorAll("thead tr:last-child th")].map((cell) => cell.textContent.trim());
    for (const row of table.querySelectorAll("tbody tr")) {
      [...row.cells].forEach((cell, index) => {
        cell.dataset.column = heads[index] ?? "";
        cell.classList.toggle("blank", !cell.textContent.trim());
      });
    }
  }

  /* Long names may break where a reader would break them: after _ and . and before a capital. */
  function breakNames(table) {
    for (const code of table.querySelectorAll("code .pre, code:not(:has(*))")) {
      const parts = code.textContent.split(/(?<=[_.=])(?=\w)|(?<=[a-z])(?=[A-Z])/);
      code.replaceChildren(...parts.flatMap((part, index) => (index ? [document.createElement("wbr"), part] : [part])));
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
    tables().forEach((table) => { nameCells(table); breakNames(table); });
    fit();
    let width = window.innerWidth;
    window.addEventListener("resize", () => {
      if (window.innerWidth !== width) { width = window.innerWidth; fit(); }
    });
  });
})();
