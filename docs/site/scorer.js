// What a search finds, best first: whole names, titles and words of the glossary, pages by their text (of the
// stages before others), parts of names, files.
// Sphinx itself takes a C++ name for one whole word.
var Scorer = {
  score: ([page, name, , , score]) => {
    const asked = new URLSearchParams(location.search).get("q").trim();
    if (name.split("::").pop() === asked) return score + 10;
    if (page.startsWith("stages/")) return score + 1;
    return page.startsWith("source/") ? score - 5 : score;
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: {},
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 7,
  partialTerm: 4,
};
