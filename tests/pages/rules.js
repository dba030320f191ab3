/* Returns what is wrong with a page at its present width and theme, as a list of sentences. */
(() => {
  const wrong = [];
  const shown = (node) => node.checkVisibility({ visibilityProperty: true, opacityProperty: true });
  const name = (node) => `${node.tagName.toLowerCase()}.${node.className} "${(node.textContent || "").trim().slice(0, 40)}"`;
  const article = document.querySelector("article") ?? document.body;

  if (document.documentElement.scrollWidth > innerWidth) wrong.push("the page scrolls sideways");

  const clipped = (node) => {
    for (let one = node; one; one = one.parentElement) {
      const style = getComputedStyle(one);
      if (style.overflowX !== "visible" || style.position === "fixed") return true;
    }
    return false;
  };
  for (const node of document.body.querySelectorAll("*")) {
    const box = node.getBoundingClientRect();
    if (box.width > 1 && box.right > innerWidth + 1 && shown(node) && !clipped(node)) wrong.push(`too wide: ${name(node)}`);
  }

  const scroller = (node) => {
    for (let one = node; one; one = one.parentElement) {
      if (["auto", "scroll"].includes(getComputedStyle(one).overflowX)) return one;
    }
    return document.documentElement;
  };
  const column = article.closest(".bd-article-container") ?? document.documentElement;
  const right = Math.min(innerWidth, column.getBoundingClientRect().right);
  for (const node of article.querySelectorAll("*")) {
    const box = node.getBoundingClientRect();
    if (box.width > 1 && box.right > right + 1 && shown(node) && scroller(node).contains(article)) wrong.push(`cut off at the edge: ${name(node)}`);
  }

  const boxes = article.querySelectorAll("table, .pst-scrollable-table-container, p, li, dd, h1, h2, h3");
  for (const node of boxes) {
    const style = getComputedStyle(node);
    const scrolls = ["auto", "scroll", "hidden"].includes(style.overflowX);
    if (scrolls && node.clientWidth && node.scrollWidth > node.clientWidth + 1) wrong.push(`scrolls: ${name(node)}`);
  }
  if (innerWidth >= 1000) {
    for (const node of article.querySelectorAll("pre")) {
      if (node.scrollWidth > node.clientWidth + 1) wrong.push(`code is cut off: ${name(node)}`);
    }
  }

  for (const image of document.images) {
    if (image.alt === null || !image.hasAttribute("alt")) wrong.push(`no alt text: ${image.src}`);
    else if (article.contains(image) && image.alt.trim().length < 5 && !image.closest(".sphx-glr-thumbcontainer")) wrong.push(`alt text too short: ${image.src}`);
    if (image.complete && !image.naturalWidth) wrong.push(`not loaded: ${image.src}`);
  }

  if (article.querySelector("pre math")) wrong.push("a formula in a block of code");

  let level = 0;
  for (const heading of article.querySelectorAll("h1, h2, h3, h4, h5, h6")) {
    const now = Number(heading.tagName[1]);
    if (now > level + 1) wrong.push(`heading skips a level: ${name(heading)}`);
    level = now;
  }
  if (article.querySelectorAll("h1").length !== 1) wrong.push("not exactly one h1");

  const pixel = Object.assign(document.createElement("canvas"), { width: 1, height: 1 }).getContext("2d", { willReadFrequently: true });
  const cache = new Map();
  const rgba = (text) => {
    if (!cache.has(text)) {
      pixel.clearRect(0, 0, 1, 1);
      pixel.fillStyle = text;
      pixel.fillRect(0, 0, 1, 1);
      const [r, g, b, a] = pixel.getImageData(0, 0, 1, 1).data;
      cache.set(text, [r, g, b, a / 255]);
    }
    return cache.get(text);
  };
  const over = (top, below) => [0, 1, 2].map((i) => top[i] * top[3] + below[i] * (1 - top[3]));
  const background = (node) => {
    const layers = [];
    for (let one = node; one; one = one.parentElement) {
      const colour = rgba(getComputedStyle(one).backgroundColor);
      if (colour[3] > 0) layers.push(colour);
      if (colour[3] === 1) break;
    }
    return layers.reverse().reduce((below, top) => over(top, below), [255, 255, 255]);
  };
  const luminance = (colour) => {
    const [r, g, b] = colour.map((v) => (v / 255 <= 0.04045 ? v / 3294.6 : ((v / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const says = (node, part) => part
    ? /^"[^"]*[a-z]{2}/i.test(getComputedStyle(node, part).content)
    : [...node.childNodes].some((child) => child.nodeType === Node.TEXT_NODE && child.data.trim());
  for (const node of document.body.querySelectorAll("*:not(script, style, noscript)")) {
    const box = node.getBoundingClientRect();
    if (box.width < 2 || box.height < 2 || !shown(node)) continue;
    for (const part of ["", "::before", "::after"].filter((each) => says(node, each))) {
      const below = background(node);
      const colour = over(rgba(getComputedStyle(node, part).color), below);
      const [light, dark] = [luminance(colour), luminance(below)].sort((x, y) => y - x);
      const ratio = (light + 0.05) / (dark + 0.05);
      if (ratio < 4.5) wrong.push(`contrast ${ratio.toFixed(2)}: ${name(node)}${part}`);
    }
  }
  return [...new Set(wrong)];
})()
