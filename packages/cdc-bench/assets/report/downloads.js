/* The JSON stands in the page once: the link that downloads it is made of what is shown. */
(() => {
  for (const link of document.querySelectorAll("a.download")) {
    const text = document.getElementById(link.dataset.source).textContent;
    link.href = URL.createObjectURL(new Blob([text, "\n"], { type: "application/json" }));
    link.hidden = false;
  }
})();
