// Places of intermediates, as text, and what is wrong with some.
#include "meshfuse/runtime/place_tensors.h"

#include "runtime/sample_fusions.h"

namespace meshfuse::testing {
namespace {

using Texts = std::vector<std::string>;

/// A chain of kernels, one a call, over 100 floats: tv0 is the input, tv1 to tv4 are made one after the other, tv4 is the result.
HostProgram::Parts chain() {
  HostProgram::Parts parts;
  ValId val = addInput(parts.fusion, {100});
  for (int i = 0; i < 4; ++i) {
    const ValId made = call(parts.fusion, "neg", {val});
    KernelLaunch& launch = parts.launches.emplace_back();
    launch.tensors = {val, made};
    launch.writes = 1;
    HostStep step;
    step.kind = HostStepKind::Launch;
    step.launch = parts.steps.size();
    parts.steps.push_back(step);
    val = made;
  }
  parts.fusion.addOutput(val);
  parts.layouts = TensorLayouts(parts.fusion.vals().size());
  for (uint32_t i = 0; i < parts.fusion.vals().size(); ++i) {
    parts.layouts.set(ValId{i}, {{100}, {1}});
  }
  return parts;
}

TEST(PlaceTensors, AnIntermediateLiesWhereOneLayThatIsNeededNoMore) {
  HostProgram::Parts parts = chain();
  placeTensors(parts, /*sharesMemory=*/true);
  EXPECT_EQ(placesText(parts),
            "intermediates: 896 bytes\n"
            "tv1 at 0\n"
            "tv2 at 448\n"
            "tv3 at 0\n");
  EXPECT_EQ(placeViolations(parts), Texts());
}

TEST(PlaceTensors, EachHasItsOwnPlaceWhereThePassIsLeftOut) {
  HostProgram::Parts parts = chain();
  placeTensors(parts, /*sharesMemory=*/false);
  EXPECT_EQ(placesText(parts),
            "intermediates: 1344 bytes\n"
            "tv1 at 0\n"
            "tv2 at 448\n"
            "tv3 at 896\n");
  EXPECT_EQ(placeViolations(parts), Texts());
}

TEST(PlaceTensors, ThoseThatLiveAtTheSameTimeDoNotOverlap) {
  HostProgram::Parts parts = chain();
  placeTensors(parts, true);
  parts.places[2].second.index = 384;  // where the last 16 bytes of tv1 are
  EXPECT_EQ(placeViolations(parts),
            (Texts{"'tv2' and 'tv1' live at the same time in the same memory",
                   "'tv3' and 'tv2' live at the same time in the same memory"}));
}

TEST(PlaceTensors, AllLieInTheBlock) {
  HostProgram::Parts parts = chain();
  placeTensors(parts, true);
  parts.temporaryBytes = 800;
  EXPECT_EQ(placeViolations(parts), Texts{"'tv2' lies beyond the block of intermediates"});
}

TEST(PlaceTensors, EachHasOnePlace) {
  HostProgram::Parts parts = chain();
  placeTensors(parts, true);
  parts.places.pop_back();
  parts.places.push_back(parts.places.front());
  EXPECT_EQ(placeViolations(parts),
            (Texts{"'tv0' has two places", "'tv4' is used by a kernel and has no place"}));
}

}  // namespace
}  // namespace meshfuse::testing
